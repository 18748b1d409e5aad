import type { Chat, Lifelog } from '../../lifelog/api.ts';
import type { Span } from '../util/spans.mts';
import type { Named } from './snippet.mts';

/** Where a page ended: the sort keys of its last entry. Entries added or deleted do not move it. */
export interface Position {
	/** UTC ISO string with milliseconds. */
	time: string;
	id: string;
}

/** Orders positions by time, then id: negative when `a` comes first. */
export function comparePositions(a: Position, b: Position): number {
	if (a.time !== b.time) return a.time < b.time ? -1 : 1;
	if (a.id !== b.id) return a.id < b.id ? -1 : 1;
	return 0;
}

/** Which lifelogs are wanted; what is missing does not matter. */
export interface LifelogFilter {
	/** First instant at which a wanted lifelog may begin. UTC ISO string with milliseconds. */
	from?: string;
	/** First instant at which a wanted lifelog may no longer begin. */
	before?: string;
	isStarred?: boolean;
	/** Somebody who speaks, by any of the names, or a label as it is stored. */
	speaker?: string;
}

/** Which lifelogs a search is for. */
export interface SearchFilter extends LifelogFilter {
	/** A part of the name of somebody who speaks, in any case. */
	speakerPart?: string;
}

/** A filter as the index knows it. */
export interface IndexFilter extends Omit<LifelogFilter, 'speaker'> {
	/** Numbers of voices, of which one must speak. */
	voices?: number[];
}

/** Somebody with a name (server/openapi.yaml, `Person`). */
export interface HeardPerson {
	name: string;
	alsoCalled: string[];
	/** Whether people.json says that this is the wearer. */
	isMe: boolean;
	lifelogs: number;
	spokenMs: number;
	/** When the first and the last lifelog begin, as UTC ISO strings. Null for somebody whom no lifelog has. */
	firstHeard: string | null;
	lastHeard: string | null;
}

/** Which chats are wanted; what is missing does not matter. */
export interface ChatFilter {
	/** Whether a scheduled prompt made them. */
	isScheduled?: boolean;
	/** Only those that this scheduled prompt made. */
	globalPromptId?: string;
}

/** Which part of a list is wanted. */
export interface Slice {
	direction: 'asc' | 'desc';
	/** Entries behind this one in the direction; from the beginning when missing. */
	after?: Position;
	/** So many entries more are passed over. */
	skip?: number;
	limit: number;
}

/** Which of the long parts of lifelogs are wanted; a store may give them all the same. */
export interface Parts {
	markdown: boolean;
	/** Empty where they are not given. */
	contents: boolean;
}

/** Ogg Opus, ready to be sent. */
export interface Audio {
	bytes: number;
	/** The same for the same bytes alone. */
	tag: string;
	/** Produces its bytes from one on up to another, which is left out. */
	read: (from: number, to: number) => Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Which recorders are wanted, by the names of their folders; all if missing. */
export interface Sources {
	only?: string;
	not?: string;
}

/** A stretch of time that can be heard, and where. */
export interface AudioSpan {
	/** Unix ms. */
	startMs: number;
	endMs: number;
	/** In ms from the beginning of the audio. */
	positionMs: number;
}

/**
 * What the routes ask of the data. Entries come with every field; their times are UTC ISO strings
 * with milliseconds. Lifelogs are ordered by `startTime`, chats by `createdAt`, then by id.
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
	/** The ids of up to `limit` lifelogs that have most of the words of a search, but not all. */
	partlyMatching?: (search: string, filter: SearchFilter, limit: number) => string[];
	/** Whom a search names; missing if nobody is known by name. */
	namedIn?: (search: string) => Named;
	getLifelog: (id: string) => Lifelog | undefined;
	/** Removes a lifelog and what belongs to it; false when there is none. */
	deleteLifelog: (id: string) => boolean | Promise<boolean>;
	/** The user's own chats. */
	listChats: (filter: ChatFilter, slice: Slice) => Chat[];
	/** A chat of the user's own, or one of another that is public. */
	getChat: (id: string) => Chat | undefined;
	/** Removes a chat of the user's own; false when there is none. */
	deleteChat: (id: string) => boolean | Promise<boolean>;
	/** What was recorded between two instants (Unix milliseconds); undefined for nothing. */
	getAudio: (
		startMs: number,
		endMs: number,
		sources?: Sources,
	) => Audio | undefined | Promise<Audio | undefined>;
}

/** Where a new lifelog comes from. */
export interface LifelogOrigin {
	source: 'api' | 'recording';
	externalId?: string;
}

/** A recording whose lifelogs are in the archive. Times are epoch ms. */
export interface RecordedLifelogs extends Span {
	/** Of all its lifelogs, also those that were deleted. */
	ids: string[];
	/** Of those that were deleted when it was transcribed. */
	deleted: string[];
	externalId?: string;
	/** An ID for the `part`th lifelog, after `nth` others that can't be taken. */
	idOf: (part: number, nth: number) => string;
	/** Is told the IDs of the new lifelogs before they are there. */
	onIds: (ids: string[]) => void;
}

/** The lifelogs of a recording, with their times. */
export interface LifelogsOf {
	there: ({ id: string } & Span)[];
	/** Those that somebody deleted. */
	deleted: ({ id: string } & Span)[];
}

/** The audio of a recording. */
export interface RecordedAudio {
	/** The file, Ogg Opus. */
	path: string;
	/** When it begins, epoch ms. */
	startMs: number;
}
