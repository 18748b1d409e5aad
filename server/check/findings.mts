export const KINDS = [
	'missing',
	'broken',
	'incomplete',
	'left over',
	'new',
	'changed',
	'gone',
] as const;

export type Kind = (typeof KINDS)[number];

/** A problem of the archive. */
export interface Finding {
	kind: Kind;
	/** Day in UTC, `YYYY-MM-DD`; missing if it isn't about a day. */
	day?: string;
	/** File, relative to the archive's folder. */
	path?: string;
	/** ID of the lifelog or chat. */
	id?: string;
	/** The problem. Completes a sentence. */
	message: string;
}

/** Called with each finding immediately. */
export type Report = (finding: Finding) => void;

/** Why nothing can be checked. The message is for people. */
export class CannotCheck extends Error {}
