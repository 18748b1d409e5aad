// Tables of the index, and types of their rows.

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

/** Source of an entry in the index. */
export interface Origin {
	/** Day that names it, `YYYY-MM-DD`. */
	day: string;
	/** SHA-256 of its file. */
	sha256: string;
	/** Whether the service no longer had it when the day was archived. */
	isGone: boolean;
	/** Its edits in the manifest, as JSON; '' without any. */
	edited: string;
}

/** State of a lifelog's served data. */
export interface LifelogState {
	id: string;
	/** Changes with everything that is served; null if it was deleted here. */
	hash: string | null;
}

/** States of the lifelogs' served data. */
export interface LifelogStates {
	/** The next states after an ID, in order of IDs. */
	lifelogStates: (afterId: string, limit: number) => LifelogState[];
	/** undefined if the lifelog isn't served and wasn't deleted. */
	lifelogState: (id: string) => LifelogState | undefined;
	/** Start and last update, as served. */
	lifelogHead: (id: string) => { startTime: string; updatedAt: string } | undefined;
	/** Start of a lifelog that was deleted here, if known. UTC. */
	deletedStart: (id: string) => string | undefined;
}

/** Compares the served data with the known state. Never rejects: failures are compared again. */
export interface Births {
	/** Whether everything must be compared because of a failure. */
	readonly isBehind: boolean;
	compareAll: (served: LifelogStates) => Promise<void>;
	compare: (served: LifelogStates, ids: string[]) => Promise<void>;
}

/** Why a file is unreadable. */
export interface FileProblem {
	/** Changes with the file; empty if a retry may succeed without a change. */
	fingerprint: string;
	/** The problem. Completes a sentence. */
	reason: string;
}

/** The index's record of a day. */
export interface DayRecord {
	day: string;
	/** Its files in `days/` by name, each with its fingerprint. */
	files: Record<string, string>;
	/** Unreadable files, by path. */
	problems: Record<string, FileProblem>;
	/** When the current manifest was written, epoch ms; 0 if none is readable. */
	archivedMs: number;
	isComplete: boolean;
}

/** Numbers of entries. */
export interface Counts {
	lifelogs: number;
	chats: number;
	audioFiles: number;
}
