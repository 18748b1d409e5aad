import { useState } from 'preact/hooks';

/** What is typed into a line, and not saved yet. */
export interface Draft {
	startOffsetMs: number;
	/** What the line was when somebody began, or when they were last told. */
	was: string;
	text: string;
	/** As it's shown; undefined if it wasn't touched. */
	speaker?: string;
	/** Why it can't be saved. */
	problem?: string;
	/** What the line is now if somebody else has changed it. */
	now?: string;
}

/** The drafts of a lifelog, by the place of their lines. */
type Drafts = ReadonlyMap<number, Draft>;

/** By the ID of the lifelog. They outlast the view: nothing typed is lost if the session ends. */
const kept = new Map<string, Drafts>();

/** Forgets all drafts, because their author has signed out. */
export const forgetDrafts = () => kept.clear();

/** The drafts of a lifelog, and what replaces one of them or, without a draft, drops it. */
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
