// The tables of the index, and what a row of them says.

/** Raise VERSION in database.mts with each change. */
export const SCHEMA = `
	CREATE TABLE IF NOT EXISTS entry (
		number INTEGER PRIMARY KEY,
		kind TEXT NOT NULL, id TEXT NOT NULL, day TEXT NOT NULL, sha256 TEXT NOT NULL,
		gone INTEGER NOT NULL, version TEXT NOT NULL, time TEXT NOT NULL, end_time TEXT NOT NULL,
		flag INTEGER NOT NULL, current INTEGER NOT NULL, edited TEXT NOT NULL,
		UNIQUE (kind, id, day)
	);
	CREATE TABLE IF NOT EXISTS deleted (
		kind TEXT NOT NULL, id TEXT NOT NULL, day TEXT NOT NULL, start_ms INTEGER, end_ms INTEGER,
		PRIMARY KEY (kind, id, day)
	) WITHOUT ROWID;
	CREATE INDEX IF NOT EXISTS deleted_day ON deleted (day, kind);
	CREATE TABLE IF NOT EXISTS body (
		number INTEGER PRIMARY KEY, head TEXT NOT NULL, markdown TEXT, contents TEXT
	);
	CREATE INDEX IF NOT EXISTS entry_time ON entry (kind, time, id) WHERE current;
	CREATE INDEX IF NOT EXISTS entry_day ON entry (day, kind);
	CREATE TABLE IF NOT EXISTS audio (
		path TEXT PRIMARY KEY, day TEXT NOT NULL, start_ms INTEGER NOT NULL,
		end_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL
	);
	CREATE INDEX IF NOT EXISTS audio_end ON audio (end_ms);
	CREATE TABLE IF NOT EXISTS day (
		day TEXT PRIMARY KEY, files TEXT NOT NULL, problems TEXT NOT NULL,
		archived_ms INTEGER NOT NULL, complete INTEGER NOT NULL
	);
`;

export type Kind = 'lifelog' | 'chat';

/** Where an entry of the index comes from. */
export interface Origin {
	/** The day that names it, `YYYY-MM-DD`. */
	day: string;
	/** SHA-256 of its file. */
	sha256: string;
	/** Whether the service no longer had it when the day was archived. */
	isGone: boolean;
	/** The edits that its manifest has for it, as JSON; empty for none. */
	edited: string;
}

/** What is served of a lifelog. */
export interface LifelogState {
	id: string;
	/** Changes with everything that is served of it; null if it was deleted here. */
	hash: string | null;
}

/** What is served of lifelogs. */
export interface LifelogStates {
	/** The next states after an ID, in the order of IDs. */
	lifelogStates: (afterId: string, limit: number) => LifelogState[];
	/** Undefined if nothing of it is served, for whatever reason, and it wasn't deleted. */
	lifelogState: (id: string) => LifelogState | undefined;
	/** When it began and when it changed last, as it is served. */
	lifelogHead: (id: string) => { startTime: string; updatedAt: string } | undefined;
	/** When a lifelog began that was deleted here, if that is known. UTC. */
	deletedStart: (id: string) => string | undefined;
}

/** Compares what is served with what was known. Never rejects: what failed is compared again. */
export interface Births {
	/** Whether everything has to be compared, because something failed. */
	readonly isBehind: boolean;
	/** Compares everything. */
	compareAll: (served: LifelogStates) => Promise<void>;
	/** Compares these lifelogs. */
	compare: (served: LifelogStates, ids: string[]) => Promise<void>;
}

/** Why a file could not be read. */
export interface FileProblem {
	/** What tells a change of the file; nothing if it may be readable another time as it is. */
	fingerprint: string;
	/** The end of a sentence about the file. */
	reason: string;
}

/** What was found of a day. */
export interface DayRecord {
	day: string;
	/** Its files in `days/`, by name, each with what tells a change of it. */
	files: Record<string, string>;
	/** The files that could not be read, by path. */
	problems: Record<string, FileProblem>;
	/** When the file was written that counted, epoch ms; 0 while none could be read. */
	archivedMs: number;
	isComplete: boolean;
}

/** How much there is. */
export interface Counts {
	lifelogs: number;
	chats: number;
	audioFiles: number;
}
