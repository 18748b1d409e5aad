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

/** Changes of a lifelog. Missing fields stay unchanged. */
export interface LifelogChange {
	title?: string;
	isStarred?: boolean;
	/**
	 * New names by the displayed names; '' means lines without a speaker. Null restores the
	 * recorded names.
	 */
	speakers?: Record<string, string> | null;
	lines?: LineChange[];
}

export type AskedChange = LifelogChange & {
	/** Whether to rename speakers in all lifelogs of the recording. */
	wholeRecording?: boolean;
};

/** Applies edits to a stored lifelog. `updatedAt` is the later of the two times. */
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
 * Adds a change to the edits of a lifelog. The change names speakers and lines as they are displayed.
 * Speakers are renamed before lines are changed.
 *
 * @param stored The lifelog as in its file.
 * @param names Display names of people.
 * @param at Now, epoch ms. The edit gets a time later than the one it changes.
 * @throws ApiError: 400 for an unknown speaker (the message lists the known ones), for a name that
 *   would also affect another person's lines, or for too many corrected lines; 409 for an unknown line.
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

/** Edits of a time (epoch ms), without empty fields. */
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

/** Whether any speaker was renamed here. */
export const hasNames = ({ speakers, lines = [] }: Partial<Edited>): boolean =>
	speakers !== undefined || lines.some(({ speaker }) => speaker !== undefined);

/** Edits without the title; undefined if nothing else is left. */
export function withoutTitle(edited: Edited): Edited | undefined {
	const left = { ...edited };
	delete left.title;
	return Object.keys(left).length > 1 ? left : undefined;
}

/** Edits with other names of speakers. Null resets all names, also those of single lines. */
function withSpeakers(
	stored: Lifelog,
	edited: Partial<Edited>,
	asked: Record<string, string> | null,
	names: Names,
): Partial<Edited> {
	if (asked) return { ...edited, ...renameSpeakers(stored, edited, asked, names) };
	return { ...edited, speakers: undefined, lines: withoutSpeakers(edited.lines) };
}

/** Displayed names of the speakers of a lifelog. */
interface Served {
	/** Displayed names by the name in the file. */
	recorded: Map<string, Set<string>>;
	/** Speakers of single lines. */
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

/** Renames all lines that display the current name, also single ones. */
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
	// Names of an earlier version may return.
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
	// Not by assignment: `__proto__` wouldn't become an entry.
	const speakers = Object.fromEntries([...all].filter(([recorded, name]) => recorded !== name));
	return { speakers, lines };
}

/**
 * The part of a change of speakers that concerns one lifelog of a recording, by its displayed names.
 *
 * @throws ApiError (400) for a person's name: only labels belong to one recording.
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

/** Speakers with the same recorded name can't be separated, except the wearer. */
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
