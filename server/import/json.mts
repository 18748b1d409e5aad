import { ExportError } from './export.mts';

/**
 * Rejects JSON that is nested too deep: parsed, many levels take a hundred times their bytes.
 *
 * @throws ExportError
 */
export function checkLevels(json: string, max: number): void {
	if (levelsOf(json) > max) throw new ExportError('is nested too deep');
}

/** The maximum nesting depth of lists and objects in JSON. */
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
