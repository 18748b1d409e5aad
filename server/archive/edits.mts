import type { Lifelog } from '../../lifelog/api.ts';
import { mapNodes, namesIn } from '../../lifelog/contents.ts';
import { ApiError } from '../util/errors.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import type { Edited } from './layout.mts';

/** What can be changed of a lifelog; what is missing stays. */
export interface LifelogChange {
	title?: string;
	isStarred?: boolean;
	/** New names by the current ones. */
	speakers?: Record<string, string>;
}

/** Applies what was edited here to a lifelog as it is stored; `updatedAt` is the later of the two. */
export function withEdits(stored: Lifelog, edited: Edited): Lifelog {
	const { title = stored.title, isStarred = stored.isStarred, speakers = {}, at } = edited;
	let isTitled = title === stored.title;
	const contents = mapNodes(stored.contents, (node) => {
		if (!isTitled && node.type === 'heading1') {
			isTitled = true;
			return { ...node, content: title };
		}
		const name = renamed(speakers, node.speakerName);
		return name === node.speakerName ? node : { ...node, speakerName: name };
	});
	const isRewritten = contents.length > 0 && (title !== stored.title || edited.speakers);
	return {
		...stored,
		title,
		isStarred,
		contents,
		...(isRewritten && { markdown: renderMarkdown(contents) }),
		updatedAt: at > stored.updatedAt ? at : stored.updatedAt,
	};
}

/**
 * Adds a change to the edits of a lifelog. The change names speakers as they are called now.
 *
 * @param stored The lifelog as its file has it.
 * @param at Now, epoch ms. An edit is always later than what it changes.
 * @throws ApiError (400) naming the speakers that there are, for one that isn't among them.
 */
export function addEdits(
	stored: Lifelog,
	before: Edited | undefined,
	{ speakers, ...change }: LifelogChange,
	at: number,
): Edited {
	const current = before ? withEdits(stored, before) : stored;
	return {
		...before,
		...change,
		...(speakers && { speakers: renameSpeakers(stored, before?.speakers ?? {}, speakers) }),
		at: new Date(Math.max(at, Date.parse(current.updatedAt) + 1)).toISOString(),
	};
}

/** Edits without a title; undefined if there are no others. */
export function withoutTitle(edited: Edited): Edited | undefined {
	const left = { ...edited };
	delete left.title;
	return Object.keys(left).length > 1 ? left : undefined;
}

function renameSpeakers(
	stored: Lifelog,
	before: Record<string, string>,
	names: Record<string, string>,
): Record<string, string> {
	const originals = namesIn(stored.contents);
	const current = new Map(originals.map((name) => [name, renamed(before, name)!]));
	const known = new Set(current.values());
	const unknown = Object.keys(names).find((name) => !known.has(name));
	if (unknown !== undefined) throw unknownSpeaker(unknown, [...known]);
	// Names of an earlier version may come back.
	const all = new Map(Object.entries(before));
	for (const [original, name] of current) all.set(original, renamed(names, name)!);
	// Not assigned: `__proto__` would be no entry.
	return Object.fromEntries([...all].filter(([original, name]) => original !== name));
}

const MAX_NAMED = 20;
const MAX_QUOTED = 200;
const quoted = (name: string) => JSON.stringify(name.slice(0, MAX_QUOTED));

function unknownSpeaker(name: string, known: string[]): ApiError {
	const named = known.slice(0, MAX_NAMED).map(quoted);
	const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
	return new ApiError(
		400,
		known.length === 0
			? 'speakers: this lifelog names no speaker'
			: `speakers: nobody is called ${quoted(name)} in this lifelog. Its speakers are ${named.join(', ')}${more}`,
	);
}

function renamed(names: Record<string, string>, name: string | null | undefined) {
	return typeof name === 'string' && Object.hasOwn(names, name) ? names[name] : name;
}
