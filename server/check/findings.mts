/** What can be wrong with an archive. */
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

/** One thing that is wrong. */
export interface Finding {
	kind: Kind;
	/** The day in UTC, `YYYY-MM-DD`; of what belongs to no day, absent. */
	day?: string;
	/** The file, from the folder of the archive. */
	path?: string;
	/** The ID of the lifelog or chat. */
	id?: string;
	/** What is wrong with it, as the end of a sentence. */
	message: string;
}

/** Takes a finding, as soon as there is one. */
export type Report = (finding: Finding) => void;

/** Why there is nothing to check; its message is for people. */
export class CannotCheck extends Error {}
