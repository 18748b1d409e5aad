/** A file and what happened to it. Completes a sentence. */
export interface Told {
	path: string;
	problem: string;
}

export interface Exported {
	/** Number in the archive. */
	lifelogs: number;
	/** Number of new or changed files, and of removed ones. */
	written: number;
	removed: number;
	/**
	 * Files that stay, because others wrote or changed them, or because the archive no longer has
	 * their content.
	 */
	kept: Told[];
	/** Unreadable files of the archive, and paths that aren't writable. */
	failed: Told[];
}

export type OnProgress = (done: number, total: number) => void;
