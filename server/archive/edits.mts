import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance, mapNodes, USER } from '../../lifelog/contents.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import { ApiError } from '../util/errors.mts';
import { quoted } from '../util/text.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import type { Edited, EditedLine } from './layout.mts';
import { changeLines, checkSize, type LineChange, withoutSpeakers } from './lines.mts';
import { nameIn, type Names } from './names.mts';
import { isUser, renamedTo, spokenAs } from './spoken.mts';

/** What can be changed of a lifelog; what is missing stays. */
export interface LifelogChange {
	title?: string;
	isStarred?: boolean;
	/** New names by those that are served, an empty one for lines without a speaker; null for the recorded ones. */
	speakers?: Record<string, string> | null;
	lines?: LineChange[];
}

/** A change of a lifelog, as it is asked for. */
export type AskedChange = LifelogChange & {
	/** Whether speakers are named in all lifelogs of the recording. */
	wholeRecording?: boolean;
};

/** Applies what was edited here to a lifelog as it is stored; `updatedAt` is the later of the two. */
export function withEdits(stored: Lifelog, edited: Edited): Lifelog {
	const { title = stored.title, isStarred = stored.isStarred, at } = edited;
	const spokenIn = spokenAs(stored, edited);
	let isTitled = title === stored.title;
	let isCorrected = false;
	const contents = mapNodes(stored.contents, (node) => {
		if (!isTitled && node.type === 'heading1') {
			isTitled = true;
			return { ...node, content: title };
		}
		const { text, name, isWearer, line } = spokenIn(node);
		const isOther = name !== nameIn(node);
		isCorrected ||= line !== undefined && (isOther || text !== node.content);
		return {
			...node,
			content: text,
			...(isOther && { speakerName: name }),
			...(isWearer !== isUser(node) && { speakerIdentifier: isWearer ? USER : null }),
		};
	});
	const isRewritten = title !== stored.title || edited.speakers || isCorrected;
	return {
		...stored,
		title,
		isStarred,
		contents,
		...(contents.length > 0 && isRewritten && { markdown: renderMarkdown(contents) }),
		updatedAt: at > stored.updatedAt ? at : stored.updatedAt,
	};
}

/**
 * Adds a change to the edits of a lifelog. The change names speakers and lines as they are served. New
 * names of speakers are given before lines are changed.
 *
 * @param stored The lifelog as its file has it.
 * @param names What people are called.
 * @param at Now, epoch ms. An edit is always later than what it changes.
 * @throws ApiError: 400 naming the speakers that there are, for one that isn't among them, for a name
 *   that would also be put on somebody else's lines, or for too many corrected lines; 409 for a line that
 *   isn't there.
 */
export function addEdits(
	stored: Lifelog,
	before: Partial<Edited>,
	{ speakers: asked, lines: askedLines, ...change }: LifelogChange,
	names: Names,
	at: number,
): Edited {
	const renamed = asked === undefined ? before : withSpeakers(stored, before, asked, names);
	const lines = askedLines ? changeLines(stored, renamed, askedLines, names) : renamed.lines;
	if (askedLines) checkSize(stored, before.lines, lines!, 'lines: this lifelog');
	return editedAt(stored, { ...renamed, ...change, lines }, at);
}

/** Edits with other corrected lines. @param at Now, epoch ms. */
export const withLines = (
	stored: Lifelog,
	edited: Partial<Edited>,
	lines: EditedLine[],
	at: number,
): Edited => editedAt(stored, { ...edited, lines }, at);

/** Edits, made at a time (epoch ms), without what says nothing. */
function editedAt(
	{ updatedAt: storedAt }: Lifelog,
	{ speakers, lines = [], ...edited }: Partial<Edited>,
	at: number,
): Edited {
	const { at: before = '' } = edited;
	const updatedAt = before > storedAt ? before : storedAt;
	return {
		...edited,
		...(speakers && Object.keys(speakers).length > 0 && { speakers }),
		...(lines.length > 0 && { lines }),
		at: new Date(Math.max(at, Date.parse(updatedAt) + 1)).toISOString(),
	};
}

/** Whether speakers have names that were given here. */
export const hasNames = ({ speakers, lines = [] }: Partial<Edited>): boolean =>
	speakers !== undefined || lines.some(({ speaker }) => speaker !== undefined);

/** Edits without a title; undefined if there are no others. */
export function withoutTitle(edited: Edited): Edited | undefined {
	const left = { ...edited };
	delete left.title;
	return Object.keys(left).length > 1 ? left : undefined;
}

/** Edits with other names of speakers; null takes all back, also those of lines. */
function withSpeakers(
	stored: Lifelog,
	edited: Partial<Edited>,
	asked: Record<string, string> | null,
	names: Names,
): Partial<Edited> {
	if (asked) return { ...edited, ...renameSpeakers(stored, edited, asked, names) };
	return { ...edited, speakers: undefined, lines: withoutSpeakers(edited.lines) };
}

/** The names that the speakers of a lifelog are served by. */
interface Served {
	/** Of each name in its file. */
	recorded: Map<string, Set<string>>;
	/** Of each speaker whom single lines have. */
	ofLines: Map<string, string>;
}

function servedNames(stored: Lifelog, edited: Partial<Edited>, names: Names): Served {
	const spokenIn = spokenAs(stored, edited);
	const recorded = new Map<string, Set<string>>();
	const ofLines = new Map<string, string>();
	for (const node of [...contentNodes(stored.contents)].filter(isUtterance)) {
		const { name, isWearer, line } = spokenIn(node);
		const served = names.shown(name, isWearer);
		if (line?.speaker !== undefined) ofLines.set(line.speaker, served);
		else recorded.set(nameIn(node), (recorded.get(nameIn(node)) ?? new Set()).add(served));
	}
	return { recorded, ofLines };
}

const allServed = ({ recorded, ofLines }: Served): Set<string> =>
	new Set([...[...recorded.values()].flatMap((each) => [...each]), ...ofLines.values()]);

/** A new name is that of all lines that are served by the current one, also of single ones. */
function renameSpeakers(
	stored: Lifelog,
	edited: Partial<Edited>,
	asked: Record<string, string>,
	names: Names,
): Pick<Edited, 'speakers' | 'lines'> {
	const served = servedNames(stored, edited, names);
	const known = allServed(served);
	const unknown = Object.keys(asked).find((name) => !known.has(name));
	if (unknown !== undefined) throw unknownSpeaker(unknown, [...known]);
	// Names of an earlier version may come back.
	const all = new Map(Object.entries(edited.speakers ?? {}));
	for (const [recorded, current] of served.recorded) {
		const wanted = new Set([...current].map((name) => renamedTo(asked, name)));
		if (wanted.size > 1) throw notApart([...current]);
		const [name] = wanted;
		if (name !== undefined) all.set(recorded, name);
	}
	const lines = edited.lines?.map((line) => {
		const name = served.ofLines.get(line.speaker ?? '');
		const speaker = name === undefined ? undefined : renamedTo(asked, name);
		return speaker === undefined ? line : { ...line, speaker };
	});
	// Not assigned: `__proto__` would be no entry.
	const speakers = Object.fromEntries([...all].filter(([recorded, name]) => recorded !== name));
	return { speakers, lines };
}

/**
 * The part of a change of speakers that is about a lifelog of a recording: who is called so in it.
 *
 * @throws ApiError (400) for a name, which isn't somebody of a recording only.
 */
export function changeInRecording(
	stored: Lifelog,
	edited: Partial<Edited>,
	speakers: Record<string, string>,
	names: Names,
): Record<string, string> {
	const name = Object.keys(speakers).find((each) => !isLabel(each));
	if (name !== undefined) throw notALabel(name);
	const served = allServed(servedNames(stored, edited, names));
	return Object.fromEntries(Object.entries(speakers).filter(([label]) => served.has(label)));
}

const MAX_NAMED = 20;

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
