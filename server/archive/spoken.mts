// The words and speakers of a lifelog, stored and displayed.
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance, USER } from '../../lifelog/contents.ts';
import type { Edited, EditedLine } from './layout.mts';
import { nameIn } from './names.mts';

/** Text and speaker of a node after edits, before people.json. */
export interface Spoken {
	text: string;
	/** Name of the speaker; '' without one. */
	name: string;
	isWearer: boolean;
	/** Its correction, if any. */
	line?: EditedLine;
}

/** Returns a function that applies the edits to nodes of the stored lifelog. */
export function spokenAs(
	stored: Lifelog,
	{ speakers = {}, lines = [] }: Partial<Edited>,
): (node: ContentNode) => Spoken {
	const byPlace = new Map(lines.map((line) => [placeOf(line), line]));
	const wearers = wearersIn(stored, { speakers });
	return (node) => {
		const [text, isWearer] = [node.content, isUser(node)];
		if (!isUtterance(node)) return { text, name: nameIn(node), isWearer };
		const name = renamed(speakers, nameIn(node));
		const line = byPlace.get(placeOfNode(node));
		if (!line) return { text, name, isWearer };
		const own = line.speaker;
		return {
			...{ line, text: line.text ?? text },
			...(own === undefined ? { name, isWearer } : { name: own, isWearer: wearers.has(own) }),
		};
	};
}

/** Names of the wearer in a lifelog, before people.json. */
export function wearersIn(stored: Lifelog, { speakers = {} }: Partial<Edited>): Set<string> {
	const own = [...contentNodes(stored.contents)].filter(isUser);
	return new Set(own.map((node) => renamed(speakers, nameIn(node))));
}

/** Identifies a corrected line: its time, and its text in the file. */
export const placeOf = ({ startOffsetMs, was }: Pick<EditedLine, 'startOffsetMs' | 'was'>) =>
	`${startOffsetMs} ${was}`;

/** Lines without a time can't be corrected. */
const placeOfNode = ({ startOffsetMs, content }: ContentNode) =>
	placeOf({ startOffsetMs: startOffsetMs ?? NaN, was: content });

export const isUser = ({ speakerIdentifier }: ContentNode): boolean => speakerIdentifier === USER;

/** Applies a new name. @param name '' for no speaker. */
const renamed = (names: Record<string, string>, name: string): string =>
	renamedTo(names, name) ?? name;

/** The new name, if any. Only own properties: `constructor` isn't an entry. */
export function renamedTo(names: Record<string, string>, name: string): string | undefined {
	return Object.hasOwn(names, name) ? names[name] : undefined;
}
