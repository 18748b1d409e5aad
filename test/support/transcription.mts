import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import { fastify } from 'fastify';
import { hearTones, type Heard } from './tones.mts';

/** What an endpoint was sent. */
export interface TranscriptionAsked {
	path: string;
	fields: Record<string, string>;
	fileName: string;
	type: string;
	authorization: string | undefined;
	heard: Heard[];
}

/** A transcription and diarization endpoint of the OpenAI form that hears tones. */
export interface TranscriptionEndpoint {
	/** Without `/audio/transcriptions`. */
	url: string;
	asked: TranscriptionAsked[];
	/** Response formats and names of fields that it refuses. */
	refuses: string[];
	/** The status of a refusal. */
	refusal: number;
	/** What it answers instead of what it would hear; undefined where it answers as it should. */
	instead: ((asked: TranscriptionAsked) => unknown) | undefined;
	/** Answers in place of everything else. */
	fault: ((response: ServerResponse) => void) | undefined;
	close: () => Promise<void>;
}

/** What an endpoint may do wrong. */
export const faults = {
	error: (response: ServerResponse) => void response.writeHead(500).end('secret'),
	rateLimit: (response: ServerResponse) =>
		void response.writeHead(429, { 'retry-after': '7' }).end('secret'),
	key: (response: ServerResponse) => void response.writeHead(401).end('secret'),
	html: (response: ServerResponse) => void response.end('<html>secret</html>'),
	nothing: (response: ServerResponse) => void response.end(),
	broken: (response: ServerResponse) => void response.socket!.destroy(),
	silent: () => {},
	endless: (response: ServerResponse) => {
		const more = () => {
			while (!response.destroyed && response.write('x'.repeat(2 ** 16)));
			if (!response.destroyed) response.once('drain', more);
		};
		more();
	},
};

/** What is said for a tone. */
export const wordsOf = (second: number) => `Tone ${second}.`;
/** Two people speak by turns, minute by minute and second by second. */
export const speakerOf = (second: number) => (second % 2 === 0 ? 'A' : 'B');

/** Starts one on a free port of 127.0.0.1. */
export async function startTranscription(): Promise<TranscriptionEndpoint> {
	const folder = await mkdtemp(join(tmpdir(), 'transcription-'));
	const server = fastify({ forceCloseConnections: true });
	await server.register(multipart, { limits: { fileSize: 25 * 2 ** 20 } });
	let files = 0;
	server.post<{ Params: { kind: string } }>('/v1/audio/:kind', async (request, reply) => {
		const fields: Record<string, string> = {};
		const path = join(folder, String((files += 1)));
		let [fileName, type] = ['', ''];
		for await (const part of request.parts()) {
			if (part.type === 'field') {
				fields[part.fieldname] = String(part.value);
				continue;
			}
			[fileName, type] = [part.filename, part.mimetype];
			await pipeline(part.file, createWriteStream(path));
		}
		const { fault, instead, refuses, refusal } = endpoint;
		const heard = fault || instead ? [] : await hearTones(path);
		await rm(path);
		const { authorization } = request.headers;
		const asked = { path: request.url, fields, fileName, type, authorization, heard };
		endpoint.asked.push(asked);
		if (fault) {
			reply.hijack();
			return fault(reply.raw);
		}
		if (!fields.model) return reply.code(422).send({ error: { message: 'no model' } });
		const format = fields.response_format ?? 'json';
		const refused = [format, ...Object.keys(fields)].find((each) => refuses.includes(each));
		if (refused) return reply.code(refusal).send({ error: { message: `no ${refused}` } });
		if (instead) return reply.type('application/json').send(JSON.stringify(instead(asked)));
		const { kind } = request.params;
		return kind === 'diarization' ? { segments: heard.map(turnOf) } : answer(heard, format);
	});
	await server.listen({ port: 0, host: '127.0.0.1' });
	const endpoint: TranscriptionEndpoint = {
		url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/v1`,
		asked: [],
		refuses: [],
		refusal: 400,
		instead: undefined,
		fault: undefined,
		close: async () => {
			await server.close();
			await rm(folder, { recursive: true });
		},
	};
	return endpoint;
}

const turnOf = ({ second, startMs, endMs }: Heard) => ({
	...{ start: startMs / 1000, end: endMs / 1000, speaker: speakerOf(second) },
});

function answer(heard: Heard[], format: string): object {
	const text = heard.map(({ second }) => wordsOf(second)).join(' ');
	if (format === 'json') return { text };
	const segments = heard.map((tone, id) => {
		const { speaker, ...times } = turnOf(tone);
		const segment = { id, ...times, text: ` ${wordsOf(tone.second)}` };
		return format === 'diarized_json' ? { ...segment, id: `seg_${id}`, speaker } : segment;
	});
	return { task: 'transcribe', text, segments };
}
