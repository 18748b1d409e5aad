import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance, mapNodes, USER } from '../../lifelog/contents.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import { ApiError } from '../util/errors.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import type { Edited } from './layout.mts';
import { nameIn, type Names } from './names.mts';

/** What can be changed of a lifelog; what is missing stays. */
export interface LifelogChange {
	title?: string;
	isStarred?: boolean;
	/** New names by those that are served, an empty one for lines without a speaker; null for the recorded ones. */
	speakers?: Record<string, string> | null;
}

/** A change of a lifelog, as it is asked for. */
export type AskedChange = LifelogChange & {
	/** Whether speakers are named in all lifelogs of the recording. */
	wholeRecording?: boolean;
};

/** Applies what was edited here to a lifelog as it is stored; `updatedAt` is the later of the two. */
export function withEdits(stored: Lifelog, edited: Edited): Lifelog {
	const { title = stored.title, isStarred = stored.isStarred, speakers = {}, at } = edited;
	let isTitled = title === stored.title;
	const contents = mapNodes(stored.contents, (node) => {
		if (!isTitled && node.type === 'heading1') {
			isTitled = true;
			return { ...node, content: title };
		}
		const name = isUtterance(node) ? renamed(speakers, nameIn(node)) : nameIn(node);
		return name === nameIn(node) ? node : { ...node, speakerName: name };
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
 * Adds a change to the edits of a lifelog. The change names speakers as they are served.
 *
 * @param stored The lifelog as its file has it.
 * @param names What people are called.
 * @param at Now, epoch ms. An edit is always later than what it changes.
 * @throws ApiError (400) naming the speakers that there are, for one that isn't among them, or for a name
 *   that would also be put on somebody else's lines.
 */
export function addEdits(
	stored: Lifelog,
	{ speakers: recorded, ...before }: Partial<Edited>,
	{ speakers, ...change }: LifelogChange,
	names: Names,
	at: number,
): Edited {
	const { at: editedAt = '' } = before;
	const updatedAt = editedAt > stored.updatedAt ? editedAt : stored.updatedAt;
	const edited = speakers ? renameSpeakers(stored, recorded ?? {}, speakers, names) : recorded;
	return {
		...before,
		...change,
		...(speakers !== null && edited && { speakers: edited }),
		at: new Date(Math.max(at, Date.parse(updatedAt) + 1)).toISOString(),
	};
}

/** Edits without a title; undefined if there are no others. */
export function withoutTitle(edited: Edited): Edited | undefined {
	const left = { ...edited };
	delete left.title;
	return Object.keys(left).length > 1 ? left : undefined;
}

/** The names that the speakers of a lifelog are served by, of each name in its file. */
function servedNames(
	stored: Lifelog,
	edited: Record<string, string>,
	names: Names,
): Map<string, Set<string>> {
	const served = new Map<string, Set<string>>();
	for (const node of [...contentNodes(stored.contents)].filter(isUtterance)) {
		const recorded = nameIn(node);
		const name = names.shown(renamed(edited, recorded), node.speakerIdentifier === USER);
		served.set(recorded, (served.get(recorded) ?? new Set()).add(name));
	}
	return served;
}

function renameSpeakers(
	stored: Lifelog,
	before: Record<string, string>,
	asked: Record<string, string>,
	names: Names,
): Record<string, string> {
	const served = servedNames(stored, before, names);
	const known = new Set([...served.values()].flatMap((each) => [...each]));
	const unknown = Object.keys(asked).find((name) => !known.has(name));
	if (unknown !== undefined) throw unknownSpeaker(unknown, [...known]);
	// Names of an earlier version may come back.
	const all = new Map(Object.entries(before));
	for (const [recorded, current] of served) {
		const wanted = new Set([...current].map((name) => renamedTo(asked, name)));
		if (wanted.size > 1) throw notApart([...current]);
		const [name] = wanted;
		if (name !== undefined) all.set(recorded, name);
	}
	// Not assigned: `__proto__` would be no entry.
	return Object.fromEntries([...all].filter(([recorded, name]) => recorded !== name));
}

/**
 * The part of a change of speakers that is about a lifelog of a recording: who is called so in it.
 *
 * @throws ApiError (400) for a name, which isn't somebody of a recording only.
 */
export function changeInRecording(
	stored: Lifelog,
	{ speakers: edited = {} }: Partial<Edited>,
	speakers: Record<string, string>,
	names: Names,
): Record<string, string> {
	const name = Object.keys(speakers).find((each) => !isLabel(each));
	if (name !== undefined) throw notALabel(name);
	const served = [...servedNames(stored, edited, names).values()].flatMap((each) => [...each]);
	return Object.fromEntries(Object.entries(speakers).filter(([label]) => served.includes(label)));
}

const MAX_NAMED = 20;
const MAX_QUOTED = 200;
const quoted = (name: string) => JSON.stringify(name.slice(0, MAX_QUOTED));

function unknownSpeaker(name: string, known: string[]): ApiError {
	const named = known
		.filter((each) => each !== '')
		.slice(0, MAX_NAMED)
		.map(quoted);
	const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
	if (name === '') {
		return new ApiError(400, 'speakers: every line of this lifelog has a speaker');
	}
	return new ApiError(
		400,
		known.every((each) => each === '')
			? 'speakers: this lifelog names no speaker. The empty name is that of all its lines'
			: `speakers: nobody is called ${quoted(name)} in this lifelog. Its speakers are ${named.join(', ')}${more}`,
	);
}

/** Only the wearer is told from others with the same recorded name. */
const notApart = (current: string[]) =>
	new ApiError(
		400,
		`speakers: lines of ${current.map(speakerQuoted).join(' and of ')} were recorded under one name in this lifelog, so they can't be told apart. Give them the same name`,
	);

const speakerQuoted = (name: string) => (name === '' ? 'nobody ("")' : quoted(name));

const notALabel = (name: string) =>
	new ApiError(
		400,
		`wholeRecording: ${quoted(name)} isn't a label, but a person. PATCH /v1/people renames a person in all lifelogs`,
	);

/** @param name Empty for none. */
const renamed = (names: Record<string, string>, name: string): string =>
	renamedTo(names, name) ?? name;

/** The new name of one that has any. Not simply read: `constructor` is no entry. */
function renamedTo(names: Record<string, string>, name: string): string | undefined {
	return Object.hasOwn(names, name) ? names[name] : undefined;
}
