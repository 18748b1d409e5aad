// What was said in a lifelog, as its file has it and as it is served.
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance, USER } from '../../lifelog/contents.ts';
import type { Edited, EditedLine } from './layout.mts';
import { nameIn } from './names.mts';

/** What a node says by the edits of its lifelog, before people.json. */
export interface Spoken {
	text: string;
	/** Of the speaker; empty for none. */
	name: string;
	isWearer: boolean;
	/** The correction that it has. */
	line?: EditedLine;
}

/** Says what the nodes of a lifelog, as its file has them, are by its edits. */
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

/** What the wearer is called in a lifelog, before people.json. */
export function wearersIn(stored: Lifelog, { speakers = {} }: Partial<Edited>): Set<string> {
	const own = [...contentNodes(stored.contents)].filter(isUser);
	return new Set(own.map((node) => renamed(speakers, nameIn(node))));
}

/** Where a corrected line is: its time, and what its file says there. */
export const placeOf = ({ startOffsetMs, was }: Pick<EditedLine, 'startOffsetMs' | 'was'>) =>
	`${startOffsetMs} ${was}`;

/** Lines without a time can't be corrected. */
const placeOfNode = ({ startOffsetMs, content }: ContentNode) =>
	placeOf({ startOffsetMs: startOffsetMs ?? NaN, was: content });

export const isUser = ({ speakerIdentifier }: ContentNode): boolean => speakerIdentifier === USER;

/** @param name Empty for none. */
const renamed = (names: Record<string, string>, name: string): string =>
	renamedTo(names, name) ?? name;

/** The new name of one that has any. Not simply read: `constructor` is no entry. */
export function renamedTo(names: Record<string, string>, name: string): string | undefined {
	return Object.hasOwn(names, name) ? names[name] : undefined;
}
