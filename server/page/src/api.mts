import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import type {
	AudioMap,
	AudioSpan,
	CalendarDay,
	Change,
	ConnectAnswer,
	Day,
	EndpointsAnswer,
	NewKey,
	Reached,
	Recording,
	SearchAnswer,
	SessionAnswer,
	WaysAnswer,
	SearchResult,
	Session,
	StatusAnswer,
	Webhook,
} from '../../http/pageApi/answers.mts';

export type {
	Change,
	AudioSpan,
	CalendarDay,
	Day,
	DayEntry,
	EndpointState,
	IndexState,
	Key,
	Recording,
	SearchResult,
	Session,
	SignedIn,
	Status,
	WaysAnswer as Ways,
	Webhook,
} from '../../http/pageApi/answers.mts';

type Query = Record<string, string | number | boolean | undefined>;

/** An answer of the server that isn't a success; its message is for people. */
export class RequestError extends Error {
	readonly status: number;
	/** When a server that isn't ready yet may be asked again. */
	readonly retryAfterS: number | undefined;

	constructor(status: number, message: string, retryAfterS?: number) {
		super(message);
		this.status = status;
		this.retryAfterS = retryAfterS;
	}
}

/** Told when the server no longer knows the session. */
const onSessionEnd = new Set<() => void>();

/** Has something called when the session ends. Returns what stops that. */
export function whenSessionEnds(call: () => void): () => void {
	onSessionEnd.add(call);
	return () => onSessionEnd.delete(call);
}

/** Sends a request to the server that the page is from. Throws a RequestError. */
async function request<Answer>(method: string, path: string, body?: object): Promise<Answer> {
	let response: Response;
	try {
		response = await fetch(path, {
			method,
			headers: {
				...(method !== 'GET' && { 'X-Lifelog-Page': '1' }),
				...(body && { 'Content-Type': 'application/json' }),
			},
			body: body && JSON.stringify(body),
		});
	} catch {
		throw new RequestError(0, NO_ANSWER);
	}
	const text = await response.text();
	if (!response.ok) {
		const retryAfterS = Number(response.headers.get('retry-after')) || undefined;
		throw failureOf(response.status, text, path !== '/session', retryAfterS);
	}
	return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

const NO_ANSWER = "The server isn't responding. Check that it's running, then try again.";

/** The error of a response. That nobody is signed in ends the session. */
function failureOf(
	status: number,
	text: string,
	isOfSession = true,
	retryAfterS?: number,
): RequestError {
	if (status === 401 && isOfSession) onSessionEnd.forEach((call) => call());
	return new RequestError(status, messageOf(text, status), retryAfterS);
}

function messageOf(text: string, status: number): string {
	try {
		const { error } = JSON.parse(text);
		if (typeof error === 'string') return error;
	} catch {
		// Something between the page and the server answered.
	}
	return `The server returned an unexpected response (${status}).`;
}

function pathOf(path: string, query: Query = {}): string {
	const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
	const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
	return given.length > 0 ? `${path}?${search}` : path;
}

const get = <Answer,>(path: string, query?: Query) => request<Answer>('GET', pathOf(path, query));
const idPath = (kind: string, id: string) => `/v1/${kind}/${encodeURIComponent(id)}`;

/** Signs in with a key, or with a link, which works once. */
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
/** How the archive is being filled. */
export const readWays = () => get<WaysAnswer>('/web/ways');
/** Begins to archive the service, or goes on. Without a key, with that of the time before. */
export const archive = (key?: string) => request<WaysAnswer>('POST', '/web/archiving', { key });
export const stopArchiving = () => request<WaysAnswer>('DELETE', '/web/archiving');
/** Uploads the zip of an export, which is imported then. Rejects with a RequestError. */
export const uploadExport = (file: File, onProgress: (share: number) => void) =>
	upload<WaysAnswer>('/web/importing', file, onProgress, 'application/zip');

export const readStatus = () => get<StatusAnswer>('/web/status');
/** Has the server ask its endpoints how they are now. */
export const readEndpoints = async () => (await get<EndpointsAnswer>('/web/endpoints')).endpoints;

export const readWebhooks = async () =>
	(await get<{ data: { webhooks: Webhook[] } }>('/v1/webhooks')).data.webhooks;
/** Sends a test to a webhook. Returns what came of it. */
export const testWebhook = async (id: string) =>
	(await request<{ data: { reached: Reached } }>('POST', `${idPath('webhooks', id)}/test`)).data
		.reached;
export const removeWebhook = (id: string) => request<void>('DELETE', idPath('webhooks', id));

/** A part of a list. */
export interface Page<Entry, Next> {
	entries: Entry[];
	/** Where the next one begins; undefined after the last. */
	next: Next | undefined;
}

/** Some of what a search found. */
export interface Found extends Page<SearchResult, number> {
	/** Whether more match than are listed. */
	isCut: boolean;
	/** The last word if nothing has it, too, and it's too short for longer words to match. */
	without: string | null;
}

export async function search(query: Query, offset?: number): Promise<Found> {
	const { results, nextOffset, ...more } = await get<SearchAnswer>('/web/search', {
		...query,
		offset,
	});
	return { entries: results, next: nextOffset ?? undefined, ...more };
}

/** A lifelog whole, its times in UTC: to write 10,000 of them in a zone takes the server 0.1 s. */
export async function readLifelog(id: string): Promise<Lifelog> {
	return (await get<{ data: { lifelog: Lifelog } }>(idPath('lifelogs', id))).data.lifelog;
}

/** The lifelogs of a day whole, in order. */
export async function readLifelogsOf(date: string, timezone: string): Promise<Lifelog[]> {
	const lifelogs: Lifelog[] = [];
	let cursor: string | undefined;
	do {
		const answer = await get<{
			data: { lifelogs: Lifelog[] };
			meta: { lifelogs: { nextCursor?: string } };
		}>('/v1/lifelogs', { date, timezone, direction: 'asc', limit: 25, cursor });
		lifelogs.push(...answer.data.lifelogs);
		cursor = answer.meta.lifelogs.nextCursor;
	} while (cursor);
	return lifelogs;
}

/** Where the audio of a lifelog is; empty without audio. */
export async function readAudioSpans(id: string): Promise<AudioSpan[]> {
	const { spans } = await get<AudioMap>(`/web/lifelogs/${encodeURIComponent(id)}/audio-map`);
	return spans;
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

export const changeLifelog = (id: string, change: Change) =>
	request<void>('PATCH', idPath('lifelogs', id), change);
/** Has the server's model write the title and headings of a lifelog. */
export const writeTitle = (id: string) => request<void>('POST', `${idPath('lifelogs', id)}/title`);
export const deleteLifelog = (id: string) => request<void>('DELETE', idPath('lifelogs', id));

/** The newest recordings. */
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

/** Tries a recording again. Without a language, it stays as it was; null has it detected. */
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
 * @param onProgress Told of the share that was sent, from 0 to 1.
 * @param again Whether lifelogs of it that were deleted are made again.
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

/** Sends something that takes a while. Rejects with a RequestError. */
function upload<Answer>(
	path: string,
	body: FormData | File,
	onProgress: (share: number) => void,
	type?: string,
): Promise<Answer> {
	return new Promise((resolve, reject) => {
		// `fetch` doesn't tell how far an upload is.
		const sending = new XMLHttpRequest();
		sending.open('POST', path);
		sending.setRequestHeader('X-Lifelog-Page', '1');
		if (type !== undefined) sending.setRequestHeader('Content-Type', type);
		sending.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
		sending.onload = () => {
			const { status, responseText } = sending;
			if (status < 300) resolve(JSON.parse(responseText));
			else reject(failureOf(status, responseText));
		};
		sending.onerror = () => reject(new RequestError(0, NO_ANSWER));
		sending.send(body);
	});
}
