/** A file, and what is to be said of it: the end of a sentence. */
interface Told {
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
	/** Files in the folder that stay as they are, though they would be written or removed. */
	kept: Told[];
	/** Files of the archive that couldn't be read. What was exported of them before stays. */
	unread: Told[];
}

/** Told how far an export is. */
export type OnProgress = (done: number, total: number) => void;
