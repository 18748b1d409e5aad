// Corrected lines of lifelogs (docs/reference/archive.md, "Corrected lines").
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance } from '../../lifelog/contents.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import { ApiError } from '../util/errors.mts';
import { quoted } from '../util/text.mts';
import { correctAll, corrector } from './correct.mts';
import type { Correction, Edited, EditedLine } from './layout.mts';
import type { Names } from './names.mts';
import { placeOf, type Spoken, spokenAs, wearersIn } from './spoken.mts';

/** A change of one line. Missing fields stay unchanged; null restores the original. */
export interface LineChange {
	/** Offset as displayed. */
	startOffsetMs: number;
	/** Text as displayed. */
	was: string;
	text?: string | null;
	/** For this line only. */
	speaker?: string | null;
}

/** Per lifelog. */
const MAX_LINES = 500;
const MAX_LINES_BYTES = 32 * 1024;

interface TimedLine extends Spoken {
	node: ContentNode;
	startOffsetMs: number;
	/** The text in its file. */
	was: string;
}

/**
 * Changes lines of a lifelog.
 *
 * @param stored The lifelog as in its file.
 * @returns The lifelog's corrected lines after the change.
 * @throws ApiError: 409 for an unknown line, 400 for a line that is named twice.
 */
export function changeLines(
	stored: Lifelog,
	edited: Partial<Edited>,
	asked: LineChange[],
	names: Names,
): EditedLine[] {
	const spoken = timedLines(stored, edited);
	const served = new Map<string, TimedLine[]>();
	for (const line of spoken) {
		const place = placeOf({ startOffsetMs: line.startOffsetMs, was: line.text });
		served.set(place, [...(served.get(place) ?? []), line]);
	}
	const speakers = new Speakers(stored, edited, names);
	const changed: EditedLine[] = [];
	for (const { text, speaker, ...place } of asked) {
		const found = served.get(placeOf(place));
		if (!found) throw notThere(place, spoken);
		served.set(placeOf(place), []);
		if (found.length === 0) throw namedTwice(place);
		const own = typeof speaker === 'string' ? speakers.own(found, speaker) : undefined;
		for (const { startOffsetMs, was, line } of found) {
			changed.push({
				...(line ?? { startOffsetMs, was }),
				...(text !== undefined && { text: text ?? was, typed: undefined, replaced: undefined }),
				...(speaker !== undefined && { speaker: own }),
			});
		}
	}
	return withLines(edited.lines, changed);
}

/**
 * Replaces words in all lines that have a time. A line that this replacement has already changed stays.
 *
 * @param stored The lifelog as in its file.
 * @returns The lifelog's corrected lines after the change.
 */
export function replaceWords(
	stored: Lifelog,
	edited: Partial<Edited>,
	replacement: Correction,
): EditedLine[] {
	const correct = corrector(replacement);
	const changed = timedLines(stored, edited).flatMap(({ startOffsetMs, was, text, line }) => {
		const right = hasReplaced(replacement.id)(line) ? text : correct(text);
		if (right === text) return [];
		const replaced = [...(line?.replaced ?? []), replacement];
		const typed = line?.replaced ? line.typed : line?.text;
		return [{ ...(line ?? { startOffsetMs, was }), text: right, typed, replaced }];
	});
	return withLines(edited.lines, changed);
}

/** Lines without the changes of a replacement. */
export function withoutReplacement(lines: EditedLine[], id: string): EditedLine[] {
	const changed = lines.filter(hasReplaced(id)).map((line) => {
		const replaced = line.replaced!.filter((each) => each.id !== id);
		return { ...line, text: correctAll(line.typed ?? line.was, replaced), replaced };
	});
	return withLines(lines, changed);
}

/** Number of lines that a replacement has changed. */
export const countReplaced = (stored: Lifelog, edited: Partial<Edited>, id: string): number =>
	timedLines(stored, edited).filter(({ line }) => hasReplaced(id)(line)).length;

/** Whether a replacement has changed any line. */
export const hasReplaced =
	(id: string) =>
	(line: EditedLine | undefined): boolean =>
		line?.replaced?.some((each) => each.id === id) === true;

/** The speakers of a lifelog, apart from speakers of single lines. */
class Speakers {
	readonly #recorded: (node: ContentNode) => Spoken;
	readonly #wearers: string[];
	readonly #names: Names;

	constructor(stored: Lifelog, { speakers }: Partial<Edited>, names: Names) {
		this.#recorded = spokenAs(stored, { speakers });
		this.#wearers = [...wearersIn(stored, { speakers })];
		this.#names = names;
	}

	/** The speaker to store for lines of their own; undefined if they have it anyway. */
	own(lines: TimedLine[], name: string): string | undefined {
		const isSame = lines.every(({ node }) => {
			const recorded = this.#recorded(node);
			return this.#names.shown(recorded.name, recorded.isWearer) === name;
		});
		if (isSame) return undefined;
		// Under another name of the same person, the line wouldn't be the wearer's.
		const isWearer = (other: string) => !isLabel(other) && this.#names.shown(other, true) === name;
		return this.#wearers.find(isWearer) ?? name;
	}
}

function timedLines(stored: Lifelog, edited: Partial<Edited>): TimedLine[] {
	const spoken = spokenAs(stored, edited);
	return [...contentNodes(stored.contents)].flatMap((node) => {
		const { startOffsetMs, content: was } = node;
		const isTimed = isUtterance(node) && typeof startOffsetMs === 'number';
		return isTimed ? [{ ...spoken(node), node, startOffsetMs, was }] : [];
	});
}

/** Corrected lines with changes applied. Lines without effect are removed. */
export function withLines(lines: EditedLine[] = [], changed: EditedLine[]): EditedLine[] {
	const all = new Map([...lines, ...changed].map((line) => [placeOf(line), line]));
	return [...all.values()].map(asKept).filter((line) => line !== undefined);
}

/** A line as stored, without redundant fields; undefined if nothing is left. */
function asKept({ text, speaker, typed, replaced = [], ...line }: EditedLine) {
	const isReplaced = replaced.length > 0;
	const kept: EditedLine = {
		...line,
		...(text !== undefined && text !== line.was && { text }),
		...(speaker !== undefined && { speaker }),
		...(isReplaced && typed !== undefined && typed !== line.was && { typed }),
		...(isReplaced && { replaced }),
	};
	return Object.keys(kept).length > Object.keys(line).length ? kept : undefined;
}

/** Corrected lines without speakers of their own. */
export const withoutSpeakers = (lines: EditedLine[] = []): EditedLine[] =>
	withLines(
		lines.map((line) => ({ ...line, speaker: undefined })),
		[],
	);

/**
 * Rejects more corrected lines than a day manifest can hold, with an ApiError (400). Lines without
 * effect don't count, because the service has changed them. A lifelog that already has more may
 * only get fewer.
 *
 * @param stored The lifelog as in its file.
 * @param lifelog Start of the message.
 */
export function checkSize(
	stored: Lifelog,
	before: EditedLine[] | undefined,
	after: EditedLine[],
	lifelog: string,
): void {
	const had = inEffect(stored, before);
	const lines = inEffect(stored, after);
	if (lines.length > Math.max(MAX_LINES, had.length)) {
		const count = `${lines.length} corrected lines`;
		throw new ApiError(400, `${lifelog} would have ${count}. A lifelog can have ${MAX_LINES}`);
	}
	const bytes = bytesOf(lines);
	if (bytes > Math.max(MAX_LINES_BYTES, bytesOf(had))) {
		throw new ApiError(
			400,
			`${lifelog} would have ${bytes} bytes of corrected lines. A lifelog can have ${MAX_LINES_BYTES}`,
		);
	}
}

const inEffect = (stored: Lifelog, lines: EditedLine[] | undefined): EditedLine[] => [
	...new Set(timedLines(stored, { lines }).flatMap(({ line }) => line ?? [])),
];

const bytesOf = (lines: EditedLine[]): number => Buffer.byteLength(JSON.stringify(lines));

type Place = Pick<LineChange, 'startOffsetMs' | 'was'>;

function notThere({ startOffsetMs, was }: Place, spoken: TimedLine[]): ApiError {
	const now = spoken.filter((line) => line.startOffsetMs === startOffsetMs);
	const texts = now.map(({ text }) => quoted(text));
	const is = `has no line ${quoted(was)} at ${startOffsetMs} ms`;
	return new ApiError(
		409,
		`lines: this lifelog ${is}. ${
			texts.length === 0 ? 'No line begins then' : `The line there is now ${texts.join(' or ')}`
		}. Read the lifelog again`,
	);
}

const namedTwice = ({ startOffsetMs, was }: Place) =>
	new ApiError(400, `lines: the line ${quoted(was)} at ${startOffsetMs} ms is named twice`);
