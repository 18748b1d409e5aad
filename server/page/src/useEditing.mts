import { useRef } from 'preact/hooks';
import type { Lifelog } from '../../../lifelog/api.ts';
import { changeLifelog, readLifelog, type LineChange } from './api.mts';
import { useDrafts, type Draft } from './drafts.mts';
import { linesOf, type Line, type Said } from './lines.mts';
import { RequestError } from './request.mts';

/** A line with corrected words. */
export interface Corrected {
	index: number;
	before: string;
	after: string;
}

/** State of editing a transcript. */
export interface Editing {
	/** Lines being edited, by index. */
	drafts: ReadonlyMap<number, Draft>;
	open: (index: number) => void;
	type: (index: number, typed: Partial<Draft>) => void;
	close: (index: number) => void;
	/** Saves a line's draft. */
	save: (index: number) => Promise<void>;
	/** Undoes all changes of a line. */
	restore: (index: number) => Promise<void>;
	/** The line that had the focus when it was scrolled out of view. */
	lost: { current: number | undefined };
}

/**
 * Edits lines of a lifelog.
 *
 * @param shown Display names of its speakers.
 * @param onLifelog Called with the lifelog after a change.
 */
export function useEditing(
	id: string,
	lines: Line[],
	shown: Map<string, string>,
	onLifelog: (lifelog: Lifelog) => void,
	onCorrected: (corrected: Corrected) => void,
): Editing {
	const [drafts, change] = useDrafts(id);
	const lost = useRef<number | undefined>(undefined);
	// Read the current draft, not that of the last render: the user may be typing.
	const update = (index: number, part: Partial<Draft>) => {
		const draft = drafts().get(index);
		if (draft) change(index, { ...draft, ...part });
	};
	const close = (index: number) => {
		change(index);
		focusLine(index);
	};
	const send = async (index: number, wanted: Partial<LineChange>) => {
		const draft = drafts().get(index)!;
		const { startOffsetMs, was } = draft;
		try {
			const lifelog = await changeLifelog(id, { lines: [{ startOffsetMs, was, ...wanted }] });
			close(index);
			onLifelog(lifelog);
			if (typeof wanted.text === 'string') {
				onCorrected({ index, before: was, after: wanted.text });
			}
		} catch (error) {
			const { lifelog, ...failed } = await explain(id, draft, error as Error);
			update(index, failed);
			if (lifelog) onLifelog(lifelog);
		}
	};
	return {
		drafts: drafts(),
		lost,
		close,
		type: update,
		open: (index) => {
			const line = lines[index];
			if (line?.type !== 'said' || line.startOffsetMs === undefined) return;
			const { startOffsetMs, text } = line;
			if (!drafts().has(index)) change(index, { startOffsetMs, was: text, text });
		},
		save: async (index) => {
			const wanted = wantedOf(drafts().get(index)!, lines[index] as Said, shown);
			if (Object.keys(wanted).length === 0) close(index);
			else await send(index, wanted);
		},
		restore: (index) => send(index, { text: null, speaker: null }),
	};
}

/** The requested change of a line. */
function wantedOf(draft: Draft, line: Said, shown: Map<string, string>): Partial<LineChange> {
	// Line breaks aren't allowed.
	const text =
		draft.text === draft.was ? draft.was : draft.text.replaceAll(/\s*\n\s*/g, ' ').trim();
	const typed = draft.speaker?.trim() ?? '';
	// "Speaker 1" means its label, such as SPEAKER_00.
	const speaker = [...shown].find(([, form]) => form === typed)?.[0] ?? typed;
	return {
		...(text !== draft.was && { text }),
		...(speaker !== '' && speaker !== line.speaker && { speaker }),
	};
}

/** Why a line couldn't be changed, and its current text if someone else has changed it. */
async function explain(
	id: string,
	{ startOffsetMs, was }: Draft,
	error: Error,
): Promise<Partial<Draft> & { lifelog?: Lifelog }> {
	const failed = { problem: error.message, now: undefined };
	if (!(error instanceof RequestError && error.status === 409)) return failed;
	const lifelog = await readLifelog(id).catch(() => undefined);
	if (!lifelog) return failed;
	const there = linesOf(lifelog).flatMap((line) =>
		line.type === 'said' && line.startOffsetMs === startOffsetMs ? [line.text] : [],
	);
	// This status also has other reasons.
	if (there.includes(was)) return failed;
	const [now] = there;
	if (now === undefined) {
		const problem =
			'This line is no longer in the lifelog. Copy what you typed, then choose Cancel.';
		return { lifelog, now, problem };
	}
	const problem = "This line has changed meanwhile. To replace it, save again. It's now:";
	return { lifelog, now, was: now, problem };
}

/** Focuses a line's edit button once it is shown again, unless something else has the focus. */
export function focusLine(index: number): void {
	requestAnimationFrame(() => {
		const button = document.querySelector<HTMLElement>(`[data-line="${index}"] .edit-line`);
		if (document.activeElement?.matches('body, #main')) button?.focus();
	});
}
