import { useState } from 'preact/hooks';

/** Unsaved input for a line. */
export interface Draft {
	startOffsetMs: number;
	/** The line's text when editing started, or when another change was last reported. */
	was: string;
	text: string;
	/** As displayed; undefined if unchanged. */
	speaker?: string;
	/** Why it can't be saved. */
	problem?: string;
	/** The line's new text if someone else has changed it. */
	now?: string;
}

/** Drafts of a lifelog by index of the line. */
type Drafts = ReadonlyMap<number, Draft>;

/** By lifelog ID. Drafts outlast the view, so that nothing is lost when the session ends. */
const kept = new Map<string, Drafts>();

/** Discards all drafts when the user signs out. */
export const forgetDrafts = () => kept.clear();

/** The drafts of a lifelog, and a function that replaces one or, without a draft, discards it. */
export function useDrafts(id: string): [() => Drafts, (index: number, draft?: Draft) => void] {
	const [, setCount] = useState(0);
	const drafts = () => kept.get(id) ?? NONE;
	const change = (index: number, draft?: Draft) => {
		const changed = new Map(drafts());
		if (draft) changed.set(index, draft);
		else changed.delete(index);
		kept.set(id, changed);
		setCount((before) => before + 1);
	};
	return [drafts, change];
}

const NONE: Drafts = new Map();
