/** Query parameters. Undefined and empty ones are omitted. */
export type Query = Record<string, string | number | boolean | undefined>;

/** An unsuccessful answer of the server. The message is for people. */
export class RequestError extends Error {
	readonly status: number;
	/** Retry delay of a server that isn't ready. */
	readonly retryAfterS: number | undefined;

	constructor(status: number, message: string, retryAfterS?: number) {
		super(message);
		this.status = status;
		this.retryAfterS = retryAfterS;
	}
}

/** Called when the server no longer accepts the session. */
const onSessionEnd = new Set<() => void>();

/** Calls `call` when the session ends. Returns a function that stops this. */
export function whenSessionEnds(call: () => void): () => void {
	onSessionEnd.add(call);
	return () => onSessionEnd.delete(call);
}

/** Sends a request to the page's server. Throws a RequestError. */
export async function request<Answer>(
	method: string,
	path: string,
	body?: object,
): Promise<Answer> {
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
	return answerIn<Answer>(response.status, text);
}

const NO_ANSWER = "The server isn't responding. Check that it's running, then try again.";

/** The answer of a successful response. Throws a RequestError if a proxy answered instead. */
function answerIn<Answer>(status: number, text: string): Answer {
	try {
		return (text === '' ? undefined : JSON.parse(text)) as Answer;
	} catch {
		throw new RequestError(status, messageOf(text, status));
	}
}

/** The error of a response. A 401 ends the session. */
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
		// A proxy answered instead of the server.
	}
	return `The server returned an unexpected response (${status}).`;
}

function pathOf(path: string, query: Query = {}): string {
	const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
	const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
	return given.length > 0 ? `${path}?${search}` : path;
}

/** Sends a GET request. Rejects with a RequestError. */
export const get = <Answer,>(path: string, query?: Query) =>
	request<Answer>('GET', pathOf(path, query));
/** The API path of an entry. */
export const idPath = (kind: string, id: string) => `/v1/${kind}/${encodeURIComponent(id)}`;

/** Uploads a file with progress. Rejects with a RequestError. */
export function upload<Answer>(
	path: string,
	body: FormData | File,
	onProgress: (share: number) => void,
	type?: string,
): Promise<Answer> {
	return new Promise<XMLHttpRequest>((resolve, reject) => {
		// `fetch` doesn't report upload progress.
		const sending = new XMLHttpRequest();
		sending.open('POST', path);
		sending.setRequestHeader('X-Lifelog-Page', '1');
		if (type !== undefined) sending.setRequestHeader('Content-Type', type);
		sending.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
		sending.onload = () => resolve(sending);
		sending.onerror = () => reject(new RequestError(0, NO_ANSWER));
		sending.send(body);
	}).then(({ status, responseText }) => {
		if (status >= 300) throw failureOf(status, responseText);
		return answerIn(status, responseText);
	});
}
