/** A file, and what is to be said of it: the end of a sentence. */
export interface Told {
	path: string;
	problem: string;
}

/** What an export did. */
export interface Exported {
	/** How many the archive has. */
	lifelogs: number;
	/** How many files are new or changed, and how many were removed. */
	written: number;
	removed: number;
	/** Files in the folder that stay, because somebody else wrote or changed them, or only they are left. */
	kept: Told[];
	/** What isn't exported: files of the archive that can't be read, and places that can't be written to. */
	failed: Told[];
}

/** Told how far an export is. */
export type OnProgress = (done: number, total: number) => void;
