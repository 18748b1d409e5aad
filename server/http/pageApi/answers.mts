// Types of the answers for the page. The routes return them, and the page imports them.
import type { ArchivingState } from '../../backup/archiving.mts';
import type { ImportingState } from '../../import/importing.mts';
import type { AudioSpan, HeardPerson } from '../../index/store.mts';
import type { EndpointState } from '../../util/modelEndpoint.mts';

export type { Reached } from '../../events/events.mts';
export type { DiskUse } from '../../util/diskUse.mts';
export type { Webhook } from '../../events/types.mts';
export type { Preview } from '../../index/findWords.mts';
export type { ReplacementState } from '../../index/replacements.mts';
export type { AskedChange as Change } from '../../archive/edits.mts';
export type { ArchivingState, AudioSpan, EndpointState, ImportingState };

/** The server's settings for the page. */
export interface Session {
	/** IANA time zone of the displayed days. */
	timezone: string;
	version: string;
	canChange: boolean;
	canDelete: boolean;
	/** Whether there are chats with the service's assistant. Also true while this is unknown. */
	hasChats: boolean;
	/** Whether recordings are listed, and whether they can be uploaded. */
	hasRecordings: boolean;
	canUpload: boolean;
	/** The inbox folder; null without one. */
	inbox: string | null;
	/** Whether titles and headings can be written. */
	canTitle: boolean;
	/** Whether the session started with a read-only key. */
	isReadOnly: boolean;
	/** Whether the session started with a link, and can therefore create and delete keys. */
	isOwner: boolean;
	/** Whether a service can be archived and an export be imported here. */
	canFill: boolean;
	/** Why this server makes no changes although they are allowed; otherwise null. */
	refusal: string | null;
	hasWebhooks: boolean;
}

export type SessionAnswer = ({ isSignedIn: true } & Session) | { isSignedIn: false };

/** An accepted key. */
export interface Key {
	id: string;
	name: string;
	isReadOnly: boolean;
	/** Whether it is the key in the server's variable, which can't be deleted here. */
	isGiven: boolean;
	/** Null for a key of an earlier version, and for the one in the variable. */
	createdAt: string | null;
	usedAt: string | null;
}

/** A signed-in browser. */
export interface SignedIn {
	id: string;
	/** Name of the key that it signed in with; null for a link. */
	key: string | null;
	startedAt: string;
	usedAt: string;
	/** Whether it is the requesting browser. */
	isThis: boolean;
}

export interface ConnectAnswer {
	/** The address of `--public-url`; null without it. */
	publicUrl: string | null;
	keys: Key[];
	sessions: SignedIn[];
}

export interface NewKey {
	id: string;
	/** It can't be read again. */
	key: string;
}

export interface CalendarDay {
	/** `YYYY-MM-DD` in the server's time zone. */
	day: string;
	lifelogs: number;
	starred: number;
	/** Total duration of the day's lifelogs. */
	durationMs: number;
	/** Total duration of the audio that starts on the day. */
	audioMs: number;
}

export interface DayEntry {
	id: string;
	title: string;
	startTime: string;
	endTime: string;
	isStarred: boolean;
	speakers: string[];
	headings: string[];
}

export interface Day {
	day: string;
	timezone: string;
	previous: string | null;
	next: string | null;
	startMs: number;
	endMs: number;
	lifelogs: DayEntry[];
	audio: { startMs: number; endMs: number }[];
}

export interface SearchResult {
	id: string;
	title: string;
	startTime: string;
	isStarred: boolean;
	day: string;
	/** Matches in the title: pairs of positions, in UTF-16 units. */
	titleMarks: [from: number, to: number][];
	/** The matching line with its neighbors. */
	snippet: string;
	/** Matches in the snippet: pairs of positions, in UTF-16 units. */
	marks: [from: number, to: number][];
	/** Time of the snippet's line; null if it is the title. */
	at: string | null;
}

/** A part of the search results. */
export interface SearchAnswer {
	results: SearchResult[];
	/** Null at the end. */
	nextOffset: number | null;
	/** Whether there are more matches that aren't listed. */
	isCut: boolean;
	/** The ignored last word: it has no matches, and is too short for its longer forms to match. */
	without: string | null;
	/** If few lifelogs have all words: those that have most of them. */
	partly: SearchResult[];
	/** If nothing was found: the search with similar known words, if any. */
	corrected: string | null;
}

/** Positions in the audio of a lifelog; empty without audio. */
export interface AudioMap {
	spans: AudioSpan[];
	/** Files of the archive that contain it. */
	files: string[];
}

/** A neighboring lifelog. */
type Neighbor = { id: string; title: string | null } | null;

/** The previous and the next lifelog, by start. */
export interface LifelogNeighbors {
	previous: Neighbor;
	next: Neighbor;
}

/** A listed person (server/openapi.yaml, `Person`). */
export interface Person extends HeardPerson {
	/** People who may be the same: equal names without case and accents, or with one different letter. */
	similar: string[];
}

/** The lifelogs of the same recording; empty if the lifelog wasn't made from one. */
export interface RecordingOfLifelog {
	lifelogIds: string[];
	/** Null if the server doesn't know it. */
	recording: Pick<Recording, 'id' | 'status' | 'error'> | null;
	/** Whether its audio is kept, so that it can be transcribed again. */
	isAudioKept: boolean;
	/** Names given to labels of an earlier transcript, and these labels. */
	namesBefore: { name: string; label: string }[];
}

/** Progress of the index. */
export interface IndexState {
	state: 'ready' | 'indexing' | 'index damaged';
	/** Days indexed and total days to index; missing once it is ready. */
	done?: number;
	total?: number;
}

export interface Status {
	index: IndexState;
	/** Status of search. */
	search: string;
	lifelogs: number;
	chats: number;
	audioFiles: number;
	/** Days with content, in the server's time zone. */
	firstDay: string | null;
	lastDay: string | null;
	days: number;
	/** Days of the archive, in UTC. */
	missingDays: string[];
	incompleteDays: string[];
	/** Days with lifelogs without audio, newest first; limited. */
	audioGaps: { day: string; missingMs: number }[];
	audioGapsCount: number;
	/** Unreadable files with reasons. A reason completes a sentence. */
	leftOut: { day: string; path: string; reason: string }[];
	leftOutCount: number;
	/** Why people.json isn't used. Completes a sentence. */
	peopleProblem: string | null;
	/** Why replacements.json isn't used. Completes a sentence. */
	replacementsProblem: string | null;
}

/** Until the index is ready, only its progress. */
export type StatusAnswer = Status | { index: IndexState; lifelogs?: undefined };

export interface ArchiveRun {
	/** Time of its last report. */
	at: string;
	summary: string;
	isComplete: boolean;
}

/** State of the current or the last check of the archive. */
export interface CheckState {
	state: 'idle' | 'running' | 'done' | 'failed';
	endedAt: string | null;
	days: number;
	/** Correct files, and their bytes. */
	files: number;
	bytes: number;
	isComplete: boolean;
	/** Problems found; limited. */
	findings: { kind: string; where: string; message: string }[];
	findingsCount: number;
	/** Why the archive couldn't be checked. */
	message: string | null;
}

export interface ArchiveState {
	lastRun: ArchiveRun | null;
	check: CheckState;
}

/** Current state of the server's model endpoints. */
export interface EndpointsAnswer {
	endpoints: EndpointState[];
}

/** State of archiving and importing. */
export interface WaysAnswer {
	/** Host of the service to archive. */
	service: string;
	archiving: ArchivingState;
	importing: ImportingState;
}

/** A recording in the page (server/openapi.yaml, `Recording`). */
export interface Recording {
	id: string;
	status: 'queued' | 'transcribing' | 'done' | 'failed';
	fileName: string;
	lifelogIds: string[];
	/** Those that were deleted. */
	deletedLifelogIds: string[];
	startTime: string | null;
	startTimeFrom: string | null;
	durationMs: number | null;
	error: string | null;
	attempts: number;
	createdAt: string;
}
