import type { Chat, Lifelog } from '../../lifelog/api.ts';
import type { Span } from '../util/spans.mts';
import type { Named } from './snippet.mts';

/** The end of a page: the sort keys of its last entry. New or deleted entries don't move it. */
export interface Position {
	/** UTC ISO string with milliseconds. */
	time: string;
	id: string;
}

/** Compares positions by time, then ID; negative if `a` comes first. */
export function comparePositions(a: Position, b: Position): number {
	if (a.time !== b.time) return a.time < b.time ? -1 : 1;
	if (a.id !== b.id) return a.id < b.id ? -1 : 1;
	return 0;
}

/** A filter for lifelogs. Missing fields don't filter. */
export interface LifelogFilter {
	/** Earliest start, inclusive. UTC ISO string with milliseconds. */
	from?: string;
	/** Latest start, exclusive. */
	before?: string;
	isStarred?: boolean;
	/** A speaker, by any name, or a label as stored. */
	speaker?: string;
}

export interface SearchFilter extends LifelogFilter {
	/** A part of a speaker's name, in any case. */
	speakerPart?: string;
}

/** A filter in the index's form. */
export interface IndexFilter extends Omit<LifelogFilter, 'speaker'> {
	/** Numbers of voices, at least one of which must speak. */
	voices?: number[];
}

/** A person with a name (server/openapi.yaml, `Person`). */
export interface HeardPerson {
	name: string;
	alsoCalled: string[];
	/** Whether people.json marks the person as the wearer. */
	isMe: boolean;
	lifelogs: number;
	spokenMs: number;
	/** Start of the first and the last lifelog, as UTC ISO strings. Null for a person in no lifelog. */
	firstHeard: string | null;
	lastHeard: string | null;
}

/** A filter for chats. Missing fields don't filter. */
export interface ChatFilter {
	/** Whether a scheduled prompt made it. */
	isScheduled?: boolean;
	/** Only chats of this scheduled prompt. */
	globalPromptId?: string;
}

/** A part of a list. */
export interface Slice {
	direction: 'asc' | 'desc';
	/** Return entries after this one, in the list's direction; by default from the start. */
	after?: Position;
	/** Number of further entries to skip. */
	skip?: number;
	limit: number;
}

/** Which long parts of lifelogs to return. A store may always return them. */
export interface Parts {
	markdown: boolean;
	/** If false, it is empty. */
	contents: boolean;
}

/** Ogg Opus that is ready to send. */
export interface Audio {
	bytes: number;
	/** Identifies the bytes, like an ETag. */
	tag: string;
	/** Streams a range of its bytes; `to` is exclusive. */
	read: (from: number, to: number) => Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Recorders to include, by folder name; by default all. */
export interface Sources {
	only?: string;
	not?: string;
}

/** An audible time range, and its position in the audio. */
export interface AudioSpan {
	/** Unix ms. */
	startMs: number;
	endMs: number;
	/** Ms from the start of the audio. */
	positionMs: number;
}

/**
 * Data access for the routes. Entries have every field; times are UTC ISO strings with
 * milliseconds. Lifelogs are ordered by `startTime`, chats by `createdAt`, then by ID.
 */
export interface Store {
	listLifelogs: (filter: LifelogFilter, slice: Slice, parts?: Parts) => Lifelog[];
	/** The best `limit` matches, best first. */
	searchLifelogs: (
		search: string,
		filter: SearchFilter,
		limit: number,
		parts?: Parts,
	) => Lifelog[] | Promise<Lifelog[]>;
	/** IDs of up to `limit` lifelogs that have most words of a search, but not all. */
	partlyMatching?: (search: string, filter: SearchFilter, limit: number) => string[];
	/** The people that a search names; missing if the store knows no names. */
	namedIn?: (search: string) => Named;
	getLifelog: (id: string) => Lifelog | undefined;
	/** Removes a lifelog and its data; false if it doesn't exist. */
	deleteLifelog: (id: string) => boolean | Promise<boolean>;
	/** The user's own chats. */
	listChats: (filter: ChatFilter, slice: Slice) => Chat[];
	/** The user's own chat, or another user's public one. */
	getChat: (id: string) => Chat | undefined;
	/** Removes a chat of the user; false if it doesn't exist. */
	deleteChat: (id: string) => boolean | Promise<boolean>;
	/** Audio between two instants (Unix milliseconds); undefined without any. */
	getAudio: (
		startMs: number,
		endMs: number,
		sources?: Sources,
	) => Audio | undefined | Promise<Audio | undefined>;
}

export interface LifelogOrigin {
	source: 'api' | 'recording';
	externalId?: string;
}

/** A recording with lifelogs in the archive. Times are epoch ms. */
export interface RecordedLifelogs extends Span {
	/** IDs of all its lifelogs, including deleted ones. */
	ids: string[];
	/** IDs of those that were deleted when it was transcribed. */
	deleted: string[];
	externalId?: string;
	/** An ID for a part, by its number, after `nth` IDs that are taken. */
	idOf: (part: number, nth: number) => string;
	/** Called with the IDs of the new lifelogs before they are added. */
	onIds: (ids: string[]) => void;
}

/** Lifelogs of a recording, with their times. */
export interface LifelogsOf {
	there: ({ id: string } & Span)[];
	/** Those that the user deleted. */
	deleted: ({ id: string } & Span)[];
}

export interface RecordedAudio {
	/** Path of the file, Ogg Opus. */
	path: string;
	/** Start, epoch ms. */
	startMs: number;
}
