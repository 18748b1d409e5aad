import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { isLabel } from '../../../lifelog/speakers.ts';
import type {
	AudioMap,
	AudioSpan,
	CalendarDay,
	ArchiveState,
	Change,
	ConnectAnswer,
	Day,
	DiskUse,
	EndpointsAnswer,
	LifelogNeighbors,
	NewKey,
	Person,
	Reached,
	Recording,
	RecordingOfLifelog,
	SearchAnswer,
	SessionAnswer,
	WaysAnswer,
	SearchResult,
	Session,
	StatusAnswer,
	Webhook,
} from '../../http/pageApi/answers.mts';
import { get, idPath, request, RequestError, upload, type Query } from './request.mts';

export type {
	Change,
	AudioSpan,
	CalendarDay,
	CheckState,
	Day,
	DayEntry,
	EndpointState,
	IndexState,
	Key,
	Person,
	Recording,
	SearchResult,
	Session,
	SignedIn,
	Status,
	WaysAnswer as Ways,
	Webhook,
} from '../../http/pageApi/answers.mts';

/** Signs in with a key, or with a one-time link. */
export const signIn = (by: { key: string } | { link: string }) =>
	request<void>('POST', '/session', by);
export const signOut = () => request<void>('DELETE', '/session');

export const readConnect = () => get<ConnectAnswer>('/web/connect');
export const makeKey = (name: string, isReadOnly: boolean) =>
	request<NewKey>('POST', '/web/keys', { name, isReadOnly });
export const removeKey = (id: string) => request<void>('DELETE', `/web/keys/${id}`);
export const endSession = (id: string) => request<void>('DELETE', `/web/sessions/${id}`);
export const endSessions = () => request<void>('DELETE', '/web/sessions');

/** Null if nobody is signed in. */
export async function readSession(): Promise<Session | null> {
	const answer = await get<SessionAnswer>('/web/session');
	return answer.isSignedIn ? answer : null;
}

export const readDays = async () => (await get<{ days: CalendarDay[] }>('/web/days')).days;
export const readDay = (day: string) => get<Day>(`/web/days/${day}`);
/** State of archiving and importing. */
export const readWays = () => get<WaysAnswer>('/web/ways');
/** Starts or continues archiving the service. Without a key, uses the previous one. */
export const archive = (key?: string) => request<WaysAnswer>('POST', '/web/archiving', { key });
export const stopArchiving = () => request<WaysAnswer>('DELETE', '/web/archiving');
/** Uploads the zip of an export; the server then imports it. Rejects with a RequestError. */
export const uploadExport = (file: File, onProgress: (share: number) => void) =>
	upload<WaysAnswer>('/web/importing', file, onProgress, 'application/zip');

export const readStatus = () => get<StatusAnswer>('/web/status');
/** Makes the server check its endpoints. */
export const readEndpoints = async () => (await get<EndpointsAnswer>('/web/endpoints')).endpoints;

/** Size of the archive on disk. Slow for a large one. */
export const readDisk = () => get<DiskUse>('/web/disk');
/** The last run of `archive`, and the last check. */
export const readArchiveState = () => get<ArchiveState>('/web/archive');
export const checkArchive = () => request<ArchiveState>('POST', '/web/check');

export const readWebhooks = async () =>
	(await get<{ data: { webhooks: Webhook[] } }>('/v1/webhooks')).data.webhooks;
/** Sends a test to a webhook. Returns the result. */
export const testWebhook = async (id: string) =>
	(await request<{ data: { reached: Reached } }>('POST', `${idPath('webhooks', id)}/test`)).data
		.reached;
export const removeWebhook = (id: string) => request<void>('DELETE', idPath('webhooks', id));

interface PeopleAnswer {
	data: { people: Person[] };
	meta: { people: { nextCursor?: string } };
}

/** A change with one of the last three fields. */
type PersonChange = { person: string } & (
	{ name: string; merge?: boolean } | { separate: string[] } | { isMe: boolean }
);

/** A part of a list. */
export interface Page<Entry, Next> {
	entries: Entry[];
	/** Start of the next part; undefined at the end. */
	next: Next | undefined;
}

/** A part of the search results. */
export interface Found extends Page<SearchResult, number> {
	/** Whether there are more matches than listed. */
	isCut: boolean;
	/** The ignored last word: it has no matches, and is too short for its longer forms to match. */
	without: string | null;
	/** If few lifelogs have all words: those that have most of them. */
	partly: SearchResult[];
	/** If nothing was found: the search with similar known words, if any. */
	corrected: string | null;
}

export async function search(query: Query, offset?: number): Promise<Found> {
	const { results, nextOffset, ...more } = await get<SearchAnswer>('/web/search', {
		...query,
		offset,
	});
	return { entries: results, next: nextOffset ?? undefined, ...more };
}

interface LifelogAnswer {
	data: { lifelog: Lifelog };
}

/** A whole lifelog with times in UTC. Converting 10,000 times to a time zone takes the server 0.1 s. */
export async function readLifelog(id: string): Promise<Lifelog> {
	return (await get<LifelogAnswer>(idPath('lifelogs', id))).data.lifelog;
}

interface LifelogsAnswer {
	data: { lifelogs: Lifelog[] };
	meta: { lifelogs: { nextCursor?: string } };
}

/** Whole lifelogs of a day, in order. */
export async function readLifelogsOf(date: string, timezone: string): Promise<Lifelog[]> {
	const lifelogs: Lifelog[] = [];
	let cursor: string | undefined;
	do {
		const answer = await get<LifelogsAnswer>('/v1/lifelogs', {
			date,
			timezone,
			direction: 'asc',
			limit: 25,
			cursor,
		});
		lifelogs.push(...answer.data.lifelogs);
		cursor = answer.meta.lifelogs.nextCursor;
	} while (cursor);
	return lifelogs;
}

/** The newest lifelogs without contents. */
export async function readNewest(limit: number, timezone: string): Promise<Lifelog[]> {
	const { data } = await get<LifelogsAnswer>('/v1/lifelogs', {
		...{ limit, timezone, includeMarkdown: false, includeContents: false },
	});
	return data.lifelogs;
}

/** Spans in the audio of a lifelog; empty without audio. */
export async function readAudioSpans(id: string): Promise<AudioSpan[]> {
	const { spans } = await get<AudioMap>(`/web/lifelogs/${encodeURIComponent(id)}/audio-map`);
	return spans;
}

/** Address of a day's zip. @param hasAudio Whether to include audio. */
export const dayAddress = (day: string, hasAudio = false) =>
	`/web/days/${day}/zip${hasAudio ? '?audio=true' : ''}`;

/** The previous and the next lifelog. */
export const readNeighbors = (id: string) =>
	get<LifelogNeighbors>(`/web/lifelogs/${encodeURIComponent(id)}/neighbors`);

/** Files of the archive with audio of a lifelog. */
export async function readAudioFiles(id: string): Promise<string[]> {
	return (await get<AudioMap>(`/web/lifelogs/${encodeURIComponent(id)}/audio-map`)).files;
}

export const audioAddress = (id: string) => `/web/audio/${encodeURIComponent(id)}`;

/** A page of chats, newest first. */
export async function readChats(timezone: string, cursor?: string): Promise<Page<Chat, string>> {
	const answer = await get<{
		data: { chats: Chat[] };
		meta: { chats: { nextCursor?: string } };
	}>('/v1/chats', { timezone, limit: 50, cursor });
	return { entries: answer.data.chats, next: answer.meta.chats.nextCursor };
}

export async function readChat(id: string, timezone: string): Promise<Chat> {
	return (await get<{ data: { chat: Chat } }>(idPath('chats', id), { timezone })).data.chat;
}

/** The recording of a lifelog, and its lifelogs. */
export const readRecordingOf = (id: string) =>
	get<RecordingOfLifelog>(`/web/lifelogs/${encodeURIComponent(id)}/recording`);

export async function readPeople(query: Query, cursor?: string): Promise<Page<Person, string>> {
	const { data, meta } = await get<PeopleAnswer>('/v1/people', { ...query, cursor });
	return { entries: data.people, next: meta.people.nextCursor };
}

/** The person who has or had a name. Rejects with a RequestError (404) for an unknown name. */
export const readPerson = async (name: string) =>
	(await get<PeopleAnswer>('/v1/people', { name })).data.people[0]!;

/** Lifelogs in which a person speaks, without contents, newest first. */
export async function readLifelogsBy(
	speaker: string,
	timezone: string,
	cursor?: string,
): Promise<Page<Lifelog, string>> {
	const { data, meta } = await get<LifelogsAnswer>('/v1/lifelogs', {
		...{ speaker, timezone, cursor, limit: 25 },
		...{ includeMarkdown: false, includeContents: false },
	});
	return { entries: data.lifelogs, next: meta.lifelogs.nextCursor };
}

/** Changes a person. Returns the changed person; undefined if nobody has the name any more. */
export const changePerson = async (change: PersonChange): Promise<Person | undefined> =>
	(await request<PeopleAnswer>('PATCH', '/v1/people', change)).data.people[0];

/**
 * Renames a person in all lifelogs.
 *
 * @returns The renamed person. Or the person who already has the name; nothing is changed then.
 */
export async function renamePerson(
	person: string,
	name: string,
): Promise<{ renamed: Person } | { other: Person }> {
	// The server's message explains which request would work, which only helps programs.
	if (isLabel(name)) throw new Error(`“${name.trim()}” isn't a name, but a label. Enter a name.`);
	try {
		return { renamed: (await changePerson({ person, name }))! };
	} catch (error) {
		if (!(error instanceof RequestError && error.status === 409)) throw error;
		// This status also has other reasons.
		const other = await readPerson(name).catch(() => undefined);
		if (!other || other.name === person) throw error;
		return { other };
	}
}

export type LineChange = NonNullable<Change['lines']>[number];

/** Changes a lifelog. Returns its new version. */
export const changeLifelog = async (id: string, change: Change): Promise<Lifelog> => {
	const { data } = await request<LifelogAnswer>('PATCH', idPath('lifelogs', id), change);
	return data.lifelog;
};
/** Makes the server's model write the title and headings of a lifelog. */
export const writeTitle = (id: string) => request<void>('POST', `${idPath('lifelogs', id)}/title`);
export const deleteLifelog = (id: string) => request<void>('DELETE', idPath('lifelogs', id));

export async function readRecordings(
	limit: number,
): Promise<{ recordings: Recording[]; hasMore: boolean }> {
	const answer = await get<{
		data: { recordings: Recording[] };
		meta: { recordings: { nextCursor?: string } };
	}>('/v1/recordings', { limit });
	const { nextCursor } = answer.meta.recordings;
	return { recordings: answer.data.recordings, hasMore: nextCursor !== undefined };
}

interface RecordingAnswer {
	data: { recording: Recording };
}

export const readRecording = async (id: string) =>
	(await get<RecordingAnswer>(idPath('recordings', id))).data.recording;
/** Transcribes a finished recording again. Returns its new state. */
export const transcribeAgain = async (id: string) =>
	(await request<RecordingAnswer>('POST', `${idPath('recordings', id)}/transcribe-again`)).data
		.recording;
/** Retries a recording. Without a language, it stays unchanged; null selects detection. */
export const retryRecording = (id: string, language?: string | null) =>
	request<void>(
		'POST',
		`${idPath('recordings', id)}/retry`,
		language === undefined ? undefined : { language },
	);
export const recordingAddress = (id: string) => `${idPath('recordings', id)}/audio`;
export const dropRecording = (id: string) => request<void>('DELETE', idPath('recordings', id));

/**
 * Uploads a recording. Rejects with a RequestError.
 *
 * @param onProgress Called with the sent share, from 0 to 1.
 * @param again Whether to create its deleted lifelogs again.
 */
export function uploadRecording(
	file: File,
	onProgress: (share: number) => void,
	again = false,
): Promise<Recording> {
	const body = new FormData();
	body.set('modifiedTime', new Date(file.lastModified).toISOString());
	if (again) body.set('again', 'true');
	body.set('file', file);
	const answer = upload<{ data: { recording: Recording } }>('/v1/recordings', body, onProgress);
	return answer.then(({ data }) => data.recording);
}
