import { createServer } from 'node:http';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cutChunks } from '../../../server/recordings/encoders.mts';
import type { Segment } from '../../../server/recordings/segments.mts';
import { listen } from '../../../server/recordings/sound.mts';
import {
	Diarizer,
	joinChunks,
	nameSpeakers,
	Transcriber,
} from '../../../server/recordings/transcribe.mts';
import { EndpointError } from '../../../server/util/modelEndpoint.mts';
import { makeTones, TONE_FROM_MS, TONE_TO_MS } from '../../support/tones.mts';
import {
	faults,
	speakerOf,
	startTranscription,
	wordsOf,
	type TranscriptionEndpoint,
} from '../../support/transcription.mts';
import { temporaryFolder } from '../sources.mts';

const SECONDS = 70;
const DURATION_MS = 5000;

let folder: string;
let recording: string;
/** Five seconds. */
let short: string;
let endpoint: TranscriptionEndpoint;
beforeAll(async () => {
	folder = temporaryFolder();
	recording = join(folder, 'tones.m4a');
	short = join(folder, 'short.mp3');
	await makeTones(recording, { seconds: SECONDS });
	await makeTones(short, { seconds: 5 });
});
beforeEach(async () => {
	endpoint = await startTranscription();
});
afterEach(() => endpoint.close());

const transcriber = (more: object = {}, timeoutMs?: number) =>
	new Transcriber(
		{ url: endpoint.url, model: 'whisper-1', key: 'secret-key', format: 'mp3', ...more },
		timeoutMs,
	);
const transcribe = (more?: object, timeoutMs?: number) =>
	transcriber(more, timeoutMs).transcribe(short, { durationMs: DURATION_MS });
const problemOf = async (asking: Promise<unknown>) => {
	const problem = await asking.catch((error: unknown) => error);
	expect(problem).toBeInstanceOf(EndpointError);
	return problem as EndpointError;
};
const answers = async (answer: unknown) => {
	endpoint.instead = () => answer;
	return await transcribe();
};
const json = (text: string) => async () => {
	endpoint.instead = () => JSON.parse(text);
	return await transcribe();
};

/** Compares what was said in a second, and when, with what was made for it. */
function expectSeconds(segments: Segment[], seconds: number): void {
	expect(segments.map(({ text }) => text)).toEqual(
		Array.from({ length: seconds }, (_, second) => wordsOf(second)),
	);
	for (const [second, { startMs, endMs }] of segments.entries()) {
		expect(Math.abs(startMs - second * 1000 - TONE_FROM_MS)).toBeLessThanOrEqual(20);
		expect(Math.abs(endMs - second * 1000 - TONE_TO_MS)).toBeLessThanOrEqual(30);
	}
}

describe('the transcript of a recording', () => {
	test.each(['mp3', 'wav'] as const)('has the right times, across chunks of %s', async (format) => {
		const to = join(folder, format);
		await mkdir(to);
		// In the silence between two tones: chunks of 19 to 20 seconds would cut in one.
		const chunks = await cutChunks(await listen(recording, to), to, { format, maxSeconds: 20 });
		expect(chunks).toHaveLength(4);
		const parts = [];
		for (const { path, offsetMs, durationMs } of chunks) {
			const segments = await transcriber({ format }).transcribe(path, { durationMs });
			parts.push({ offsetMs, segments });
		}
		expectSeconds(joinChunks(parts), SECONDS);
		expect(endpoint.asked.map(({ type, fileName }) => [type, fileName])[3]).toEqual([
			...[format === 'mp3' ? 'audio/mpeg' : 'audio/wav', `004.${format}`],
		]);
	});

	test('is requested in the form that the endpoint needs', async () => {
		expectSeconds(await transcribe(), 5);
		const { path, fields, authorization } = endpoint.asked[0];
		expect({ path, fields, authorization }).toEqual({
			path: '/v1/audio/transcriptions',
			fields: { model: 'whisper-1', response_format: 'verbose_json' },
			authorization: 'Bearer secret-key',
		});
		await transcribe({ language: 'de', key: undefined });
		const german = transcriber({ language: 'de' });
		await german.transcribe(short, { durationMs: DURATION_MS, language: 'fr' });
		expect(endpoint.asked.map(({ fields }) => fields.language)).toEqual([undefined, 'de', 'fr']);
		expect(endpoint.asked[1].authorization).toBeUndefined();
	});

	test('includes speakers if the model can distinguish them', async () => {
		const segments = await transcribe({ model: 'gpt-4o-transcribe-diarize' });
		expectSeconds(segments, 5);
		expect(segments.map(({ speaker }) => speaker)).toEqual(['A', 'B', 'A', 'B', 'A']);
		expect(endpoint.asked[0].fields).toEqual({
			model: 'gpt-4o-transcribe-diarize',
			response_format: 'diarized_json',
			chunking_strategy: 'auto',
		});
	});

	test('has one segment for each chunk if the endpoint returns no times', async () => {
		endpoint.refuses = ['verbose_json'];
		const plain = transcriber();
		const whole = { startMs: 0, endMs: DURATION_MS, text: [0, 1, 2, 3, 4].map(wordsOf).join(' ') };
		for (let nth = 0; nth < 2; nth += 1) {
			expect(await plain.transcribe(short, { durationMs: DURATION_MS })).toEqual([whole]);
		}
		const formats = endpoint.asked.map(({ fields }) => fields.response_format);
		expect(formats).toEqual(['verbose_json', 'json', 'verbose_json', 'json']);
	});

	test.each([[['verbose_json', 'json']], [['verbose_json']]])(
		'is requested with times again after the endpoint refused %j once',
		async (refuses) => {
			endpoint.refuses = refuses;
			const plain = transcriber();
			await plain.transcribe(short, { durationMs: DURATION_MS }).catch((error: unknown) => {
				expect(error).toMatchObject({ isRefusal: true });
			});
			endpoint.refuses = [];
			expectSeconds(await plain.transcribe(short, { durationMs: DURATION_MS }), 5);
		},
	);
});

describe('every form of an answer is read', () => {
	const hello = { text: 'Hello.', startMs: 500, endMs: 1500 };
	test.each<[string, unknown, Segment[]]>([
		['numbers as strings', { segments: [{ text: ' Hello.', start: '0.5', end: '1.5' }] }, [hello]],
		[
			'a speaker',
			{ segments: [{ text: 'Hello.', start: 0.5, end: 1.5, speaker: 'Anna' }] },
			[{ ...hello, speaker: 'Anna' }],
		],
		[
			'the ID of a speaker',
			{
				text: 'Hello.',
				segments: [{ text: 'Hello.', start: 0.5, end: 1.5, speaker_id: 'speaker_1' }],
			},
			[{ ...hello, speaker: 'speaker_1' }],
		],
		['words', { text: 'Hello.', words: [{ word: 'Hello.', start: 0.5, end: 1.5 }] }, [hello]],
		[
			'words beside no segments',
			{ text: 'Hello.', segments: [], words: [{ word: 'Hello.', start: 0.5, end: 1.5 }] },
			[hello],
		],
		[
			'words in segments',
			{ segments: [{ text: 'Hello.', start: 0.5, end: 1.5, words: [{ word: 'Hello.' }] }] },
			[hello],
		],
		[
			'no times',
			{ text: ' Hello.\n', segments: [] },
			[{ ...hello, startMs: 0, endMs: DURATION_MS }],
		],
		['no words', { text: ' ', segments: [] }, []],
		['no segments', { segments: [] }, []],
		['no text', { text: '' }, []],
		['empty segments', { text: ' ', segments: [{ text: ' ', start: 0, end: 5 }] }, []],
		[
			'segments beyond the end',
			{
				segments: [
					{ text: 'Hello.', start: 4.5, end: 30 },
					{ text: 'Thanks.', start: 30, end: 31 },
				],
			},
			[
				{ ...hello, startMs: 4500, endMs: 5000 },
				{ text: 'Thanks.', startMs: 5000, endMs: 5000 },
			],
		],
		[
			'odd times',
			{
				segments: [
					{ text: 'Hello.', start: -0.02, end: 1.5 },
					{ text: 'Bye.', start: 2, end: 1 },
					{ text: 'Thanks.', start: 4, end: 200_000 },
				],
			},
			[
				{ ...hello, startMs: 0 },
				{ text: 'Bye.', startMs: 2000, endMs: 2000 },
				{ text: 'Thanks.', startMs: 4000, endMs: 5000 },
			],
		],
		[
			'words with odd times',
			{
				words: [
					{ word: 'Hello.', start: 0.5, end: 1.5 },
					{ word: 'Bye.', start: 2, end: -1 },
				],
			},
			[hello, { text: 'Bye.', startMs: 2000, endMs: 2000 }],
		],
		[
			'a segment without an end',
			{
				segments: [
					{ text: 'When?', start: 2, end: null },
					{ text: 'Hello.', start: 0.5, end: 1.5 },
				],
			},
			[hello, { text: 'When?', startMs: 2000, endMs: DURATION_MS }],
		],
		[
			'a speaker that is not a text',
			{ segments: [{ text: 'Hello.', start: 0.5, end: 1.5, speaker: {} }] },
			[hello],
		],
		[
			'a text beside segments without times',
			{ text: 'Hello.', segments: [{ text: 'Hello.', start: null, end: null }] },
			[{ ...hello, startMs: 0, endMs: DURATION_MS }],
		],
	])('%s', async (_name, answer, expected) => {
		expect(await answers(answer)).toEqual(expected);
	});

	test('more and longer segments than an uploaded transcript may have are kept', async () => {
		const text = 'word '.repeat(5000).trim();
		expect(await answers({ segments: [{ text, start: 0, end: 5 }] })).toHaveLength(1);
		const many = Array(20_001).fill({ text: 'a', start: 0, end: 1 });
		expect(await answers({ segments: many })).toHaveLength(20_001);
	});

	test('a text that is longer than a segment may be is kept', async () => {
		const text = 'word '.repeat(5000).trim();
		expect(await answers({ text })).toEqual([{ text, startMs: 0, endMs: DURATION_MS }]);
	});
});

describe('an answer that is a text is read as what it is', () => {
	const hello = { text: 'Hello.', startMs: 500, endMs: 1500 };
	const whole = { text: 'Hello.', startMs: 0, endMs: DURATION_MS };
	const srt = '1\r\n00:00:00,500 --> 00:00:01,500\r\nHello.\r\n\r\n';
	test.each<[string, string, Segment[]]>([
		['text', ' Hello.\n', [whole]],
		['text of several lines', 'One\n\ttwo.', [{ ...whole, text: 'One two.' }]],
		['text as a string of JSON', '"Hello."', [whole]],
		['text that begins as a number does', '7 people.', [{ ...whole, text: '7 people.' }]],
		['text that begins with a sound', '[Music] Hello.', [{ ...whole, text: '[Music] Hello.' }]],
		['SRT', srt, [hello]],
		['SRT as a string of JSON', JSON.stringify(srt), [hello]],
		['WebVTT', 'WEBVTT\n\n00:00.500 --> 00:01.500\nHello.\n', [hello]],
		['WebVTT in which nobody speaks', 'WEBVTT\n\n', []],
		[
			'WebVTT beyond the end',
			'WEBVTT\n\n00:04.500 --> 00:30.000\nHello.\n',
			[{ ...hello, startMs: 4500, endMs: DURATION_MS }],
		],
		[
			'JSON with NaN',
			'{"duration": NaN, "x": -Infinity, "segments": [{"text": "Say \\"NaN\\", NaN.", "start": 0.5, "end": 1.5, "avg_logprob": nan}]}',
			[{ ...hello, text: 'Say "NaN", NaN.' }],
		],
		['JSON after a byte order mark', '\ufeff{"text": "Hello."}', [whole]],
	])('%s', async (_name, text, expected) => {
		endpoint.fault = (response) => void response.end(text);
		expect(await transcribe()).toEqual(expected);
	});

	test.each([
		'',
		' \n',
		'<html>secret</html>',
		'\ufeff<!doctype html>',
		'{"text": "cut o',
		'{"text": NaN, "seg',
		'[',
		'[null, "cut o',
		'data: {"type":"transcript.text.delta","delta":"secret"}\n\n',
		'event: delta\ndata: secret\n\n',
		'\u0000\u0001secret',
		'WEBVTT\n\nnonsense --> secret\n',
	])("%j isn't", async (text) => {
		endpoint.fault = (response) => void response.end(text);
		expect(await problemOf(transcribe())).toMatchObject({ isRefusal: false, isUnusable: true });
	});
});

describe('a fault of the endpoint can be temporary', () => {
	test.each<[keyof typeof faults, RegExp, Partial<EndpointError>]>([
		['error', /^returned 500$/, { isFailure: true }],
		['rateLimit', /^returned 429$/, { waitMs: 7000 }],
		['key', /^returned 401. Check the key in LIFELOG_TRANSCRIPTION_KEY$/, {}],
		['html', /^didn't return JSON$/, { isUnusable: true }],
		['nothing', /^didn't return JSON$/, { isUnusable: true }],
		['broken', /^cannot be reached/, { isUnusable: false }],
		['endless', /^returned more than 32 MiB$/, { isUnusable: true }],
	])('%s', async (fault, message, more) => {
		endpoint.fault = faults[fault];
		const problem = await problemOf(transcribe());
		expect(problem.message).toMatch(message);
		expect(problem).toMatchObject({ isRefusal: false, ...more });
		expect(problem.message).not.toContain('secret');
		expect(endpoint.asked).toHaveLength(1);
	});

	test('a date in Retry-After is read', async () => {
		endpoint.fault = (response) => {
			const at = new Date(Date.now() + 30_000).toUTCString();
			response.writeHead(429, { 'retry-after': at }).end();
		};
		const { waitMs } = await problemOf(transcribe());
		expect(waitMs).toBeGreaterThan(20_000);
		expect(waitMs).toBeLessThanOrEqual(30_000);
	});

	test.each([
		'null',
		'[]',
		'{}',
		'{"error":{"message":"secret"}}',
		'{"text":null}',
		'{"segments":[{"start":2,"end":3}]}',
		'{"segments":[7]}',
		'{"segments":{}}',
		'{"words":[{"start":1,"end":2}]}',
	])("%s isn't accepted as a transcription", async (text) => {
		const problem = await problemOf(json(text)());
		expect(problem.message).toBe("didn't return a transcription");
		expect(problem).toMatchObject({ isRefusal: false, isUnusable: true });
	});

	test('no answer in time', async () => {
		endpoint.fault = faults.silent;
		expect(await problemOf(transcribe({}, 500))).toMatchObject({
			...{ message: "didn't respond in time", isRefusal: false },
		});
	});

	test('no connection', async () => {
		const { url } = endpoint;
		const asking = transcriber({ url: url.replace(/:\d+/, ':1') });
		const problem = await problemOf(asking.transcribe(short, { durationMs: DURATION_MS }));
		expect(problem).toMatchObject({ message: expect.stringMatching(/reached/), isRefusal: false });
	});

	test('nothing is sent to another address', async () => {
		let isAsked = false;
		const other = createServer((_request, response) => {
			isAsked = true;
			response.end('{"text":"Hello."}');
		});
		await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
		const { port } = other.address() as AddressInfo;
		endpoint.fault = (response) =>
			void response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
		expect((await problemOf(transcribe())).message).toBe('redirects to another address');
		expect(isAsked).toBe(false);
		await new Promise((resolve) => other.close(resolve));
	});

	test("a signal ends the request, and doesn't count as a fault of the endpoint", async () => {
		endpoint.fault = faults.silent;
		const stop = new AbortController();
		const reason = new Error('stopped');
		setTimeout(() => stop.abort(reason), 300);
		const asking = transcriber().transcribe(short, {
			...{ durationMs: DURATION_MS, signal: stop.signal },
		});
		await expect(asking).rejects.toBe(reason);
	});
});

test.each([400, 413, 422])(
	'a chunk that is refused with %d is refused permanently',
	async (status) => {
		endpoint.fault = (response) => void response.writeHead(status).end('secret');
		const problem = await problemOf(transcribe());
		expect(problem).toMatchObject({ message: `returned ${status}`, isRefusal: true });
	},
);

test.each<[object, RegExp]>([
	[{ url: 'http://example.com/v1' }, /--transcription-url must begin with https/],
	[{ url: 'nonsense' }, /--transcription-url must be an address/],
	[{ key: 'ü' }, /LIFELOG_TRANSCRIPTION_KEY must contain only ASCII letters/],
])('%j is not accepted', (options, problem) => {
	expect(() => transcriber(options)).toThrow(problem);
});

describe('speakers of another endpoint', () => {
	const diarizer = (more: object = {}) =>
		new Diarizer({ url: endpoint.url, model: 'pyannote', key: undefined, ...more });

	test('are assigned to the segments that they speak most of', async () => {
		const turns = await diarizer().diarize(short, { durationMs: 5_000 });
		const segments = nameSpeakers(await transcribe(), turns);
		expectSeconds(segments, 5);
		expect(segments.map(({ speaker }) => speaker)).toEqual([0, 1, 2, 3, 4].map(speakerOf));
		const { path, fields } = endpoint.asked[0];
		expect([path, fields]).toEqual(['/v1/audio/diarization', { model: 'pyannote' }]);
	});

	test('are chosen by all of their turns together, and nobody else is renamed', () => {
		const turns = [
			{ startMs: 0, endMs: 400, speaker: 'A' },
			{ startMs: 400, endMs: 1000, speaker: 'B' },
			{ startMs: 1000, endMs: 1400, speaker: 'A' },
		];
		const segments = [
			{ text: 'Long.', startMs: 0, endMs: 1400 },
			{ text: 'Short.', startMs: 300, endMs: 900, speaker: 'C' },
			{ text: 'Later.', startMs: 1400, endMs: 2000, speaker: 'C' },
		];
		const named = nameSpeakers(segments, turns);
		expect(named.map(({ speaker }) => speaker)).toEqual(['A', 'B', 'C']);
	});

	test.each(['null', '{}', '{"segments":[{}]}', '{"segments":[{"start":1,"end":2}]}'])(
		"%s isn't accepted as an answer",
		async (text) => {
			endpoint.instead = () => JSON.parse(text);
			const problem = await problemOf(diarizer().diarize(short, { durationMs: 5_000 }));
			expect(problem).toMatchObject({
				message: "doesn't say who speaks when",
				isRefusal: false,
			});
		},
	);

	test.each<[string, unknown[][]]>([
		[
			'no end',
			[
				[0, null],
				[2, null],
			],
		],
		[
			'an end only at last',
			[
				[0, undefined],
				[2, 5],
			],
		],
		[
			'no start',
			[
				[null, 2],
				[null, 5],
			],
		],
		[
			'a start that is no number',
			[
				['', 2],
				['NaN', 5],
			],
		],
		[
			'strings of numbers',
			[
				['0', '2'],
				['2', '5.0'],
			],
		],
		[
			'an end after the audio',
			[
				[0, 2],
				[2, 99],
			],
		],
		[
			'a turn of nobody beside',
			[
				[0, 2],
				[2, 3, null],
				[2, 5],
				[null, null],
			],
		],
	])('with %s name every word', async (_, turns) => {
		const names = ['A', 'B'];
		endpoint.instead = () => ({
			segments: turns.map(([start, end, speaker = names.shift() ?? 'C']) => ({
				...{ start, end, speaker },
			})),
		});
		expect(await diarizer().diarize(short, { durationMs: 5_000 })).toEqual([
			{ startMs: 0, endMs: 2_000, speaker: 'A' },
			{ startMs: 2_000, endMs: 5_000, speaker: 'B' },
		]);
	});

	test('an answer with NaN is read, and one without turns names nobody', async () => {
		const turn = '{"start":NaN,"end":2,"speaker_id":1}';
		endpoint.fault = (response) => void response.end(`{"segments":[${turn}]}`);
		expect(await diarizer().diarize(short, { durationMs: 5_000 })).toEqual([
			{ startMs: 0, endMs: 2_000, speaker: 'Speaker 1' },
		]);
		endpoint.fault = (response) => void response.end('{"segments":[]}');
		expect(await diarizer().diarize(short, { durationMs: 5_000 })).toEqual([]);
	});

	test('a wrong key names its own variable', async () => {
		endpoint.fault = faults.key;
		expect((await problemOf(diarizer().diarize(short, { durationMs: 5_000 }))).message).toMatch(
			/DIARIZATION_KEY/,
		);
	});
});

describe("the same label in several chunks isn't the same person", () => {
	const said = (speaker?: string) => ({
		...{ text: 'Hello.', startMs: 100, endMs: 200, ...(speaker !== undefined && { speaker }) },
	});
	const speakersOf = (...chunks: (string | undefined)[][]) =>
		joinChunks(
			chunks.map((speakers, nth) => ({ offsetMs: nth * 1000, segments: speakers.map(said) })),
		).map(({ speaker }) => speaker);

	test.each(['A', '1', 'SPEAKER_00', 'speaker_1', 'Speaker 1', 'S1', 'spk-2'])('%s', (label) => {
		expect(speakersOf([label], [], [label])).toEqual([`${label} (1)`, `${label} (3)`]);
		expect(speakersOf([label])).toEqual([label]);
	});

	test('names and missing speakers stay', () => {
		const names = ['Anna', 'Bo', 'Speaker Jones', 'You', undefined];
		expect(speakersOf(names, names)).toEqual([...names, ...names]);
	});

	test('times are those of the recording', () => {
		expect(
			joinChunks([
				{ offsetMs: 0, segments: [] },
				{ offsetMs: 700, segments: [said()] },
			]),
		).toEqual([{ text: 'Hello.', startMs: 800, endMs: 900 }]);
	});
});

test("an audio file that the endpoint can't decode counts as a failure of the endpoint", async () => {
	const path = join(folder, 'text.mp3');
	await writeFile(path, 'no audio');
	const problem = await problemOf(transcriber().transcribe(path, { durationMs: 1 }));
	expect(problem).toMatchObject({ message: 'returned 500', isFailure: true });
});
