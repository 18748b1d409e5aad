import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { RECORDED } from './marked-key.mts';
import { type Answer, type Exchange, json, type Play, send } from './service.mts';

// Everything that goes wrong between the node and the service.

export interface Fault {
	title: string;
	/** What becomes of a request; missing where the address itself is wrong. */
	play?: Play;
	/** The kind of wrong address. */
	address?: 'refused' | 'unknownHost' | 'badCertificate' | 'noTls';
	/** Takes a time-out or a minute's wait to come to its end. */
	slow?: boolean;
	/** Takes its time, which cannot be skipped. */
	drips?: boolean;
	/** Has a meaning for lists only, for JSON only, or for what reads headings. */
	concerns?: 'lists' | 'json' | 'headings';
	/** What is right under it, made of what is right otherwise; the same unless given. */
	right?: (usual: unknown) => unknown;
	/** Takes so much memory until it is refused that few can be borne at a time. */
	isHeavy?: boolean;
	/** Whether the service recovers: `once` it has hit, or not at all. Both unless given. */
	only?: 'once' | 'always';
}

/** Answers in place of the service. */
const instead =
	(make: (exchange: Exchange) => Answer): Play =>
	(exchange) =>
		send(exchange.response, make(exchange));

/** Lets the service answer, and changes that. */
const altered =
	(change: (body: Buffer) => Buffer, headers: Record<string, string> = {}): Play =>
	({ response, serve }) => {
		const { status, headers: usual, body } = serve();
		send(response, { status, headers: { ...usual, ...headers }, body: change(body) });
	};

const limited = (body: unknown, headers: Record<string, string> = {}) =>
	instead(() => json(429, body, headers));

const page = (title: string) => Buffer.from(`<!doctype html><title>${title}</title><p>Sorry</p>`);

const html = (status: number, title: string) =>
	instead(() => ({ status, headers: { 'content-type': 'text/html' }, body: page(title) }));

/** A success that is not what was asked for, but somebody's words. */
const recorded = (type: string, text: string): Answer => ({
	status: 200,
	headers: { 'content-type': type },
	body: Buffer.from(text),
});

/** An answer of the right status with this as its JSON. */
const body = (value: unknown) => instead(() => json(200, value));

/** Every list and every entry of the answer replaced by `value`. */
const entries = (...values: unknown[]) =>
	instead(({ path }) => {
		const [, , , collection, id] = path.split('/');
		const name = id === undefined ? collection : collection.slice(0, -1);
		const data = { [name]: id === undefined ? values : values[0] };
		return json(200, { data, meta: { [collection]: { count: values.length } } });
	});

/** Writes `bytes` in pieces, `everyMs` apart; stops where the other side has gone. */
async function drip(response: ServerResponse, bytes: Buffer, pieces: number, everyMs: number) {
	const size = Math.ceil(bytes.length / pieces);
	for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
		if (at > 0) await sleep(everyMs);
		response.socket?.write(bytes.subarray(at, at + size));
	}
}

/** The answer as it goes over the wire. */
function raw({ status, headers, body: bytes }: Answer): Buffer {
	const lines = Object.entries({ ...headers, 'content-length': bytes.length, connection: 'close' });
	const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
	return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} OK\r\n${head}\r\n`), bytes]);
}

/** One byte, and 40 s later the next, for ever: no connection stands still for a minute. */
async function dripForEver(response: ServerResponse, start: string): Promise<void> {
	response.socket?.write(start);
	while (!response.destroyed && response.socket) {
		await sleep(40_000);
		response.socket?.write('x');
	}
}

/** As gzip allows, parts one behind another. */
const BOMB = Buffer.concat(new Array<Buffer>(1536).fill(gzipSync(Buffer.alloc(1_048_576, ' '))));

/** A summary of lifelogs that have headings, by their Markdown, but nobody who spoke. */
function withHeadings(usual: unknown): unknown {
	const [{ markdown, ...rest }] = usual as [{ markdown: string }];
	const told = markdown
		.replace(/^.*Who took part.*\n\n/m, '')
		.replaceAll(/^- .*$/gm, (line) => `${line}\n  - Garden\n  - x`);
	return [{ ...rest, speakers: [], markdown: told }];
}

const emptyPage = ({ path, nth }: Exchange, nextCursor: string) => {
	const [, , , collection] = path.split('/');
	const isLast = nth >= 10_000;
	const meta = { [collection]: { count: 0, ...(!isLast && { nextCursor }) } };
	return json(200, { data: { [collection]: [] }, meta });
};

/** By their name in the table's code; the order is that of the table. */
export const FAULTS: Record<string, Fault> = {
	limitBody: {
		title: '429, wait in the body',
		play: limited({ error: 'slow', retryAfter: '1' }),
	},
	limitSeconds: {
		title: '429, wait in the header as seconds',
		play: limited({ error: 'slow' }, { 'retry-after': '1' }),
	},
	limitDate: {
		title: '429, wait in the header as a date',
		play: instead(() => {
			const date = new Date(Math.floor(Date.now() / 1000) * 1000);
			const later = new Date(date.getTime() + 1000).toUTCString();
			return json(429, { error: 'slow' }, { date: date.toUTCString(), 'retry-after': later });
		}),
	},
	limitZero: { title: '429, wait of 0', play: limited({ retryAfter: '0' }) },
	limitNone: { title: '429 without a wait', play: limited({ error: 'slow' }) },
	limitPage: { title: '429 as a page of HTML', play: html(429, 'Too many requests') },
	limitAbsurd: { title: '429, wait as a word', play: limited({ retryAfter: 'soon' }) },
	limitHuge: { title: '429, wait of 1e308 s', play: limited({ retryAfter: '1e308' }) },
	limitNegative: {
		title: '429, negative wait',
		play: limited({ retryAfter: '-30' }, { 'retry-after': '-30' }),
	},
	limitHours: { title: '429, wait of 10 hours', play: limited({ retryAfter: '36000' }) },

	status500: { title: '500', play: instead(() => json(500, { error: 'out of order' })) },
	status502: { title: '502 as a page of HTML', play: html(502, 'Bad gateway') },
	status500After: {
		title: '500 after the request was taken',
		play: instead(({ serve }) => {
			serve();
			return json(500, {});
		}),
	},
	status503: { title: '503 without a body', play: instead(() => empty(503)) },
	status504: { title: '504', play: instead(() => json(504, { message: 'upstream' })) },

	html: { title: '200 with a page of HTML', play: html(200, 'Welcome') },
	recordedMarkdown: {
		title: '200 with what was recorded, as Markdown',
		play: instead(() => recorded('text/markdown', `# ${RECORDED}`)),
	},
	recordedText: {
		title: '200 with what was recorded, as a text of JSON',
		play: instead(() => recorded('application/json', JSON.stringify(RECORDED))),
	},
	recordedPage: {
		title: '200 with what was recorded, as a page',
		play: html(200, RECORDED),
	},
	recordedBytes: {
		title: '200 with what was recorded, as bytes of another kind',
		play: instead(() => recorded('image/png', `\x89PNG\0${RECORDED}`)),
	},
	noBody: { title: '200 without a body', play: instead(() => empty(200)) },
	status204: { title: '204', play: instead(() => empty(204)) },
	cutJson: {
		title: 'JSON cut off, length as sent',
		concerns: 'json',
		play: altered((bytes) => bytes.subarray(0, bytes.length / 2)),
	},
	nullBody: { title: 'JSON null', play: body(null) },
	listBody: { title: 'JSON list', play: body([]) },
	numberBody: { title: 'JSON number', play: body(7) },
	wrongEnvelope: { title: 'Envelope without data', play: body({ result: [] }) },
	nullData: { title: 'Data null', play: body({ data: null }) },
	textData: { title: 'Data a text', play: body({ data: 'lifelogs' }) },
	stringEntries: { title: 'Entries are texts', play: entries('a', 'b') },
	nullEntries: { title: 'Entries are null', play: entries(null, null) },
	emptyEntries: { title: 'Entries without an ID', play: entries({}, {}) },
	listEntries: { title: 'Entries are lists', play: entries([], []) },

	refused: { title: 'Connection refused', address: 'refused', only: 'always' },
	resetBefore: {
		title: 'Reset before the request was taken',
		play: ({ request }) => void request.socket.resetAndDestroy(),
	},
	resetAfter: {
		title: 'Reset after the request was taken',
		play: ({ request, serve }) => {
			serve();
			request.socket.resetAndDestroy();
		},
	},
	cutBody: {
		title: 'Connection broken within the body',
		play: async ({ response, serve }) => {
			const whole = raw(serve());
			response.socket?.write(whole.subarray(0, whole.length - 20));
			await sleep(20);
			response.socket?.destroy();
		},
	},
	slowHeaders: {
		title: 'Headers in pieces over 2 s',
		drips: true,
		play: async ({ response, serve }) => await drip(response, raw(serve()), 8, 300),
	},
	slowBody: {
		title: 'Body in pieces over 2 s',
		drips: true,
		play: async ({ response, serve }) => {
			const whole = raw(serve());
			const head = whole.indexOf('\r\n\r\n') + 4;
			response.socket?.write(whole.subarray(0, head));
			await drip(response, whole.subarray(head), 8, 300);
		},
	},
	brokenGzip: {
		title: 'Gzip that breaks',
		play: altered(
			(bytes) => {
				const packed = gzipSync(bytes);
				// Behind the header of the format: noise that no two readers take differently.
				createHash('sha256').update(packed).digest().copy(packed, 10);
				return packed;
			},
			{ 'content-encoding': 'gzip' },
		),
	},
	cutGzip: {
		title: 'Gzip that is cut off',
		concerns: 'json',
		play: altered((bytes) => gzipSync(bytes).subarray(0, -12), { 'content-encoding': 'gzip' }),
	},
	gzipBomb: {
		title: 'Gzip of 1.5 MB that unpacks to 1.5 GiB',
		concerns: 'json',
		isHeavy: true,
		play: instead(() => ({
			status: 200,
			headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
			body: BOMB,
		})),
	},
	longPage: {
		title: '502 as a page of titles without end',
		play: instead(() => ({
			status: 502,
			headers: { 'content-type': 'text/html' },
			body: Buffer.from('<title'.repeat(90_000)),
		})),
	},
	longHeadings: {
		title: 'Headings of 200,000 blanks',
		concerns: 'headings',
		only: 'always',
		play: altered((bytes) => {
			const answer = JSON.parse(bytes.toString()) as { data: { lifelogs: object[] } };
			const markdown = `## Garden\n##${' '.repeat(200_000)}\u2028${' '.repeat(200_000)}x\n`;
			const lifelogs = answer.data.lifelogs.map((one) => ({ ...one, contents: [], markdown }));
			return Buffer.from(JSON.stringify({ ...answer, data: { lifelogs } }));
		}),
		right: withHeadings,
	},
	notHttp: {
		title: 'An answer that is no HTTP',
		play: ({ response }) => void response.socket?.end('220 mail ready\r\n'),
	},
	...Object.fromEntries(
		[301, 302, 303, 307, 308].map((status): [string, Fault] => [
			`redirect${status}`,
			{
				title: `${status} to another host`,
				play: instead(({ elsewhere, request }) => ({
					...empty(status),
					headers: { location: `${elsewhere}${new URL(request.url!, elsewhere).pathname}` },
				})),
			},
		]),
	),
	unknownHost: { title: 'No such host (DNS)', address: 'unknownHost', only: 'always' },
	badCertificate: { title: 'TLS, bad certificate', address: 'badCertificate', only: 'always' },
	noTls: { title: 'No TLS behind https', address: 'noTls', only: 'always' },

	sameCursor: {
		title: 'A cursor that repeats',
		play: instead((exchange) => {
			const { headers, body: bytes } = exchange.serve();
			const answer = JSON.parse(bytes.toString()) as { meta?: Record<string, object> };
			const meta = Object.entries(answer.meta ?? {}).map(([name, value]) => [
				name,
				{ ...value, nextCursor: '2' },
			]);
			return { ...json(200, { ...answer, meta: Object.fromEntries(meta) }), headers };
		}),
		concerns: 'lists',
		only: 'always',
	},
	emptyPages: {
		title: '10,000 empty pages, fresh cursors',
		play: instead((exchange) => emptyPage(exchange, `fresh-${exchange.nth}`)),
		concerns: 'lists',
		only: 'always',
	},

	limitMinute: { title: '429 without a wait, waited for', play: limited({}), slow: true },
	stall: { title: 'No answer, for ever', play: () => {}, slow: true },
	stallBody: {
		title: 'Half a body, then nothing, for ever',
		play: ({ response, serve }) => {
			const whole = raw(serve());
			response.socket?.write(whole.subarray(0, whole.length - 20));
		},
		slow: true,
	},
	dripHeaders: {
		title: 'Headers one byte at a time, for ever',
		play: async ({ response }) => await dripForEver(response, 'HTTP/1.1 200 OK\r\nx-a: '),
		slow: true,
	},
	dripBody: {
		title: 'Body one byte at a time, for ever',
		play: async ({ response, serve }) => {
			const { headers } = serve();
			const head = `content-type: ${headers['content-type']}\r\ncontent-length: 9999`;
			await dripForEver(response, `HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
		},
		slow: true,
	},
};

function empty(status: number): Answer {
	return { status, headers: {}, body: Buffer.alloc(0) };
}
