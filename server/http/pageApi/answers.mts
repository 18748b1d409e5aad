// The answers that the page gets, as types. The routes return them, and the page imports them.
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

/** What the server says of itself. */
export interface Session {
	/** IANA name of the zone whose days are shown. */
	timezone: string;
	version: string;
	canChange: boolean;
	canDelete: boolean;
	/** Whether the service's assistant left chats. Also while that isn't known yet. */
	hasChats: boolean;
	/** Whether recordings are listed, and whether they can be uploaded. */
	hasRecordings: boolean;
	canUpload: boolean;
	/** The folder whose files become recordings; null without one. */
	inbox: string | null;
	/** Whether titles and headings can be written. */
	canTitle: boolean;
	/** Whether it began with a key that can only read. */
	isReadOnly: boolean;
	/** Whether it began with a link: then it makes and removes keys. */
	isOwner: boolean;
	/** Whether a service can be archived here, and an export imported. */
	canFill: boolean;
	/** Why this server changes nothing, though it was allowed to; null otherwise. */
	refusal: string | null;
	/** Whether webhooks are shown. */
	hasWebhooks: boolean;
}

export type SessionAnswer = ({ isSignedIn: true } & Session) | { isSignedIn: false };

/** A key that is accepted. */
export interface Key {
	id: string;
	name: string;
	isReadOnly: boolean;
	/** Whether it's the one in the variable of the server, which can't be removed here. */
	isGiven: boolean;
	/** Null for a key of an earlier version, and for the one in the variable. */
	createdAt: string | null;
	usedAt: string | null;
}

/** A browser that has signed in. */
export interface SignedIn {
	id: string;
	/** The name of the key that it signed in with; null for a link. */
	key: string | null;
	startedAt: string;
	usedAt: string;
	/** Whether it's the browser that asks. */
	isThis: boolean;
}

export interface ConnectAnswer {
	/** The address of `--public-url`; null without it. */
	publicUrl: string | null;
	keys: Key[];
	sessions: SignedIn[];
}

/** A key that was made just now. */
export interface NewKey {
	id: string;
	/** It can't be read again. */
	key: string;
}

/** A day in the calendar. */
export interface CalendarDay {
	/** `YYYY-MM-DD` in the server's time zone. */
	day: string;
	lifelogs: number;
	starred: number;
	/** How long the lifelogs of the day are together. */
	durationMs: number;
	/** How long the audio is that begins on the day. */
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
	/** Where the words are in the title: pairs of places, in UTF-16 units. */
	titleMarks: [from: number, to: number][];
	/** The line of the words, and those around it. */
	snippet: string;
	/** Pairs of places in the snippet, in UTF-16 units. */
	marks: [from: number, to: number][];
	/** When the line of the snippet was said; null for one of the title. */
	at: string | null;
}

/** Some of what a search found. */
export interface SearchAnswer {
	results: SearchResult[];
	/** Null after the last one. */
	nextOffset: number | null;
	/** Whether still more match. */
	isCut: boolean;
	/** The last word if it was left out: nothing has it, and it's too short for longer words to match. */
	without: string | null;
	/** If few have all words: those that have most of them. */
	partly: SearchResult[];
	/** If nothing was found: the same with similar words that lifelogs have, if there are some. */
	corrected: string | null;
}

/** Where the audio of a lifelog is; empty without audio. */
export interface AudioMap {
	spans: AudioSpan[];
	/** The files of the archive that have some of it. */
	files: string[];
}

/** A lifelog beside another one. */
type Neighbor = { id: string; title: string | null } | null;

/** The lifelogs before and after one, by start. */
export interface LifelogNeighbors {
	previous: Neighbor;
	next: Neighbor;
}

/** A person of the list (server/openapi.yaml, `Person`). */
export interface Person extends HeardPerson {
	/** Other people who may be the same: the names are equal without case and accents, or one letter apart. */
	similar: string[];
}

/** The lifelogs of the recording that a lifelog was made of; empty if it wasn't. */
export interface RecordingOfLifelog {
	lifelogIds: string[];
	/** Null if the server doesn't know it. */
	recording: Pick<Recording, 'id' | 'status' | 'error'> | null;
	/** Whether its audio is kept, so that it can be transcribed again. */
	isAudioKept: boolean;
	/** Names that labels had in an earlier transcript, and these labels. */
	namesBefore: { name: string; label: string }[];
}

/** How far the index of the server is. */
export interface IndexState {
	state: 'ready' | 'indexing' | 'index damaged';
	/** Days that were read, of those that have to be; missing once it's ready. */
	done?: number;
	total?: number;
}

export interface Status {
	index: IndexState;
	/** How search works. */
	search: string;
	lifelogs: number;
	chats: number;
	audioFiles: number;
	/** Days with something in them, in the server's time zone. */
	firstDay: string | null;
	lastDay: string | null;
	days: number;
	/** Days of the archive's own, in UTC. */
	missingDays: string[];
	incompleteDays: string[];
	/** Days whose lifelogs lack audio, newest first; of very many the first ones. */
	audioGaps: { day: string; missingMs: number }[];
	audioGapsCount: number;
	/** Files that can't be read, each with the end of a sentence about it. */
	leftOut: { day: string; path: string; reason: string }[];
	leftOutCount: number;
	/** Why people.json isn't used, as the end of a sentence about it. */
	peopleProblem: string | null;
	/** The same of replacements.json. */
	replacementsProblem: string | null;
}

/** Until the index is ready, only how far it is. */
export type StatusAnswer = Status | { index: IndexState; lifelogs?: undefined };

/** A run of `archive`. */
export interface ArchiveRun {
	/** When it last wrote its report. */
	at: string;
	summary: string;
	isComplete: boolean;
}

/** A check of the archive: of the one under way, or of the last one. */
export interface CheckState {
	state: 'idle' | 'running' | 'done' | 'failed';
	endedAt: string | null;
	days: number;
	/** Files that are as they should be, and their bytes. */
	files: number;
	bytes: number;
	isComplete: boolean;
	/** What is wrong: the first ones of many. */
	findings: { kind: string; where: string; message: string }[];
	findingsCount: number;
	/** Why it couldn't be checked. */
	message: string | null;
}

export interface ArchiveState {
	lastRun: ArchiveRun | null;
	check: CheckState;
}

/** The endpoints with models that the server uses, as they are now. */
export interface EndpointsAnswer {
	endpoints: EndpointState[];
}

/** How the archive is being filled. */
export interface WaysAnswer {
	/** The host of the service that can be archived. */
	service: string;
	archiving: ArchivingState;
	importing: ImportingState;
}

/** A recording that becomes lifelogs (server/openapi.yaml, `Recording`). */
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
