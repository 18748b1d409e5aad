import { ExportError } from './export.mts';

/**
 * Refuses JSON that is nested too deep: what JSON.parse makes of many levels takes a hundred times their
 * bytes.
 *
 * @throws ExportError
 */
export function checkLevels(json: string, max: number): void {
	if (levelsOf(json) > max) throw new ExportError('is nested too deep');
}

/** How deep lists and objects are nested in JSON, at most. */
function levelsOf(json: string): number {
	let deepest = 0;
	let level = 0;
	let isText = false;
	for (let at = 0; at < json.length; at += 1) {
		const character = json[at];
		if (character === '"') isText = !isText;
		else if (isText) at += character === '\\' ? 1 : 0;
		else if (character === '[' || character === '{') deepest = Math.max(deepest, (level += 1));
		else if (character === ']' || character === '}') level -= 1;
	}
	return deepest;
}
