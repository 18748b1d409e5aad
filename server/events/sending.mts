// One attempt of a delivery, signed by Standard Webhooks.
import { Webhook as Signer } from 'standardwebhooks';
import type { Dispatcher } from 'undici';
import { askedWaitMs } from '../../lifelog/retryAfter.ts';
import { codeOf, headersOf, LateError, send, textOf } from '../util/http.mts';
import { asError } from '../util/errors.mts';
import { RefusedAddressError } from './addresses.mts';
import type { Event, Outcome } from './types.mts';

/** Timeout of a receiver. */
const ANSWER_MS = 20_000;
/** Bytes of an answer to read, so that the connection can be reused. The rest is dropped. */
const MAX_ANSWER = 16_384;

interface Target {
	url: string;
	secret: string;
	dispatcher: Dispatcher;
	/** Aborts the attempt, which then counts as one without an answer. */
	signal: AbortSignal;
}

/** Sends an event. Never rejects. */
export async function attempt(
	{ id, ...body }: Event,
	{ url, secret, dispatcher, signal }: Target,
): Promise<Outcome> {
	const payload = JSON.stringify(body);
	const at = new Date();
	const headers = {
		'content-type': 'application/json',
		'user-agent': 'lifelog-server',
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
		'webhook-signature': new Signer(secret).sign(id, at, payload),
	};
	const until = performance.now() + ANSWER_MS;
	try {
		const how = { method: 'POST', headers, body: payload, beginMs: ANSWER_MS } as const;
		const response = await send(url, { ...how, dispatcher, signal });
		const totalMs = Math.max(1, until - performance.now());
		// Only its status matters.
		await textOf(response, { maxBytes: MAX_ANSWER, totalMs }).catch(() => {});
		const waitMs = askedWaitMs(undefined, headersOf(response));
		return { status: response.status, ...(waitMs !== undefined && { waitMs }) };
	} catch (error) {
		return { error: inWords(asError(error)) };
	}
}

export const isSuccess = ({ status = 0 }: Outcome) => status >= 200 && status < 300;

/** Why no answer came. Completes a sentence, without the address. */
function inWords(error: Error): string {
	const cause = asError(error.cause ?? error);
	if (cause instanceof RefusedAddressError) return cause.message;
	// Ports of other protocols, such as 25. Browsers block them, too.
	if (cause.message === 'bad port') return "its port isn't one for HTTP";
	if (error instanceof LateError) return `no answer came within ${ANSWER_MS / 1000} seconds`;
	const code = codeOf(error) ?? cause.name;
	const known = WORDS[code];
	if (known) return known;
	if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL/.test(code))
		return `its certificate isn't valid (${code})`;
	return `the connection failed (${code})`;
}

const CLOSED = 'the connection was closed before an answer came';
const LATE = 'no connection could be made in time';
const NO_NAME = "the name of the host isn't known";
const WORDS: Record<string, string> = {
	ECONNREFUSED: 'the connection was refused',
	ECONNRESET: CLOSED,
	UND_ERR_SOCKET: CLOSED,
	EPIPE: CLOSED,
	ENOTFOUND: NO_NAME,
	EAI_AGAIN: NO_NAME,
	ETIMEDOUT: LATE,
	UND_ERR_CONNECT_TIMEOUT: LATE,
	EHOSTUNREACH: "the host can't be reached",
	ENETUNREACH: "the network can't be reached",
};
