// Words to expect: how an endpoint is told them, and what only repeats them. recordingPrompt.test.mts has
// those of servers and uploads.
import { join } from 'node:path';
import { Transcriber } from '../../../server/recordings/transcribe.mts';
import { EndpointError } from '../../../server/util/modelEndpoint.mts';
import { seededRandom } from '../../support/seededRandom.mts';
import { makeTones } from '../../support/tones.mts';
import { faults, startTranscription, wordsOf } from '../../support/transcription.mts';
import type { TranscriptionEndpoint } from '../../support/transcription.mts';
import { temporaryFolder } from '../sources.mts';

const PROMPT = 'Anna Meier, Quickcarbon. Yes: Zürich';
const TONES = [0, 1, 2, 3, 4].map(wordsOf);
const durationMs = 5000;

let short: string;
let endpoint: TranscriptionEndpoint;
beforeAll(async () => {
	short = join(temporaryFolder(), 'short.mp3');
	await makeTones(short, { seconds: 5 });
});
beforeEach(async () => {
	endpoint = await startTranscription();
});
afterEach(() => endpoint.close());

async function transcribe(prompt: string | undefined, model = 'whisper-1', own?: string) {
	const key = undefined;
	const transcriber = new Transcriber({ url: endpoint.url, model, key, format: 'mp3', prompt });
	const segments = await transcriber.transcribe(short, { durationMs, prompt: own });
	return segments.map(({ text }) => text);
}

/** What was asked for, one request after the other. */
const asked = () =>
	endpoint.asked.map(({ fields: { response_format, prompt } }) =>
		prompt === undefined ? response_format : `${response_format}, ${prompt}`,
	);

describe('an endpoint is told the words to expect', () => {
	test('with each request, and those of the recording instead of those of the server', async () => {
		expect(await transcribe(PROMPT)).toEqual(TONES);
		await transcribe(PROMPT, 'whisper-1', 'Tom');
		await transcribe(undefined, 'whisper-1', 'Tom');
		await transcribe(undefined);
		await transcribe('');
		const [all, own] = [`verbose_json, ${PROMPT}`, 'verbose_json, Tom'];
		expect(asked()).toEqual([all, own, own, 'verbose_json', 'verbose_json']);
	});

	const [times, plain] = [`verbose_json, ${PROMPT}`, `json, ${PROMPT}`];
	test.each([400, 422])(
		'and asked again if it refuses with %d, no more than needed',
		async (status) => {
			endpoint.refusal = status;
			for (const [refuses, requests, texts] of [
				[['prompt'], [times, 'verbose_json'], TONES],
				[['verbose_json'], [times, 'verbose_json', plain], [TONES.join(' ')]],
				[['prompt', 'verbose_json'], [times, 'verbose_json', plain, 'json'], [TONES.join(' ')]],
				[['verbose_json', 'json'], [times, 'verbose_json', plain, 'json'], undefined],
			] as const) {
				endpoint.refuses = [...refuses];
				endpoint.asked = [];
				const outcome = await transcribe(PROMPT).catch((error: unknown) => error);
				if (texts) expect(outcome).toEqual(texts);
				else expect(outcome).toMatchObject({ message: `returned ${status}`, isRefusal: true });
				expect(asked()).toEqual(requests);
			}
		},
	);

	test('but not again without them if the audio is too large or the endpoint has failed', async () => {
		endpoint.refuses = ['verbose_json', 'json'];
		endpoint.refusal = 413;
		await expect(transcribe(PROMPT)).rejects.toMatchObject({ isRefusal: true });
		expect(asked()).toEqual([times, plain]);
		endpoint.asked = [];
		endpoint.fault = faults.error;
		await expect(transcribe(PROMPT)).rejects.toThrow(EndpointError);
		expect(asked()).toEqual([times]);
	});

	test("unless its model ends in -diarize, also if that one can't be asked for speakers", async () => {
		expect(await transcribe(PROMPT, 'gpt-4o-transcribe-diarize')).toEqual(TONES);
		endpoint.refuses = ['diarized_json'];
		await transcribe(undefined, 'gpt-4o-transcribe-diarize', PROMPT);
		expect(asked()).toEqual(['diarized_json', 'diarized_json', 'json']);
	});
});

const answerWith = (texts: string[]) => {
	endpoint.instead = () => ({
		segments: texts.map((text, nth) => ({ text, start: nth / 100, end: (nth + 1) / 100 })),
	});
};

describe('a segment is left out', () => {
	test.each([
		PROMPT,
		'anna meier quickcarbon yes zürich',
		'ANNA, MEIER! Quickcarbon – yes? Zu\u0308rich…',
		`${PROMPT} ${PROMPT} ${PROMPT}`,
		`${PROMPT}. Anna Meier,`,
	])('if it only repeats the words: %j', async (echo) => {
		answerWith(['Hello.', echo, 'Bye.', echo]);
		expect(await transcribe(PROMPT)).toEqual(['Hello.', 'Bye.']);
	});

	test('also if it is all that was heard, in any form of an answer', async () => {
		for (const answer of [
			{ text: PROMPT, segments: [{ text: PROMPT, start: 0, end: 5 }] },
			{ text: PROMPT },
			{
				words: PROMPT.replace('.', '')
					.split(' ')
					.map((word) => ({ word, start: 0, end: 1 })),
			},
		]) {
			endpoint.instead = () => answer;
			expect(await transcribe(PROMPT)).toEqual([]);
		}
	});

	test('with other apostrophes and hyphens', async () => {
		answerWith(["ANNA-LENA O'BRIEN, quick carbon", 'Tom']);
		expect(await transcribe('Anna Lena O’Brien: Quick-Carbon')).toEqual(['Tom']);
	});

	test('in scripts without blanks', async () => {
		answerWith(['田中、量子炭素、東京。', '田中さんは東京にいます。', '東京']);
		expect(await transcribe('田中、量子炭素、東京')).toEqual(['田中さんは東京にいます。', '東京']);
	});
});

describe('a segment stays', () => {
	test.each([
		'Yes.',
		'Anna Meier.',
		'Anna Meier, Quickcarbon.',
		'Quickcarbon. Yes: Zürich',
		'Zürich. Yes: Quickcarbon, Anna Meier',
		'Quickcarbon, yes, Zürich, Anna Meier',
		`Ask ${PROMPT}`,
		`${PROMPT} tomorrow`,
		`${PROMPT} Anna Huber`,
		'Anna Meier, Quickcarbon, yes, yes, Zürich',
	])('if it may have been said: %j', async (speech) => {
		answerWith([speech, speech]);
		expect(await transcribe(PROMPT)).toEqual([speech, speech]);
	});

	test.each(['Yes', 'Anna Meier'])('if %j is all that is expected', async (prompt) => {
		answerWith([prompt, `${prompt}, ${prompt}!`]);
		expect(await transcribe(prompt)).toEqual([prompt, `${prompt}, ${prompt}!`]);
	});

	test('if the endpoint was not told the words', async () => {
		answerWith([PROMPT]);
		endpoint.refuses = ['prompt'];
		expect(await transcribe(PROMPT)).toEqual([PROMPT]);
		expect(await transcribe(undefined)).toEqual([PROMPT]);
		expect(await transcribe(PROMPT, 'gpt-4o-transcribe-diarize')).toEqual([PROMPT]);
	});
});

test('of random segments, exactly those are left out that only repeat the words', async () => {
	const seed = Number(process.env.SOAK_SEED ?? 20260301);
	const random = seededRandom(seed);
	const below = (n: number) => Math.floor(random() * n);
	const pick = <One,>(list: readonly One[]) => list[below(list.length)];
	const VOCABULARY = 'Anna Meier Tom Zürich Łódź Quickcarbon yes no the 42 Größe Ελένη Дарья'.split(
		' ',
	);
	const shuffled = (words: string[]) =>
		words
			.map((word) => [random(), word] as const)
			.sort(([a], [b]) => a - b)
			.map(([, word]) => word);
	/** Words with any case and punctuation. */
	const written = (words: string[]) =>
		words
			.map(
				(word) =>
					pick([word, word.toUpperCase(), word.toLowerCase()]) + pick(['', ',', '.', '!', ' –']),
			)
			.join(pick([' ', '  ']));
	const others = 'hello carbon Ann Zürichs Meiers 420'.split(' ');
	for (let run = 0; run < 60; run += 1) {
		// None is there twice, so a part or another order is never all of them.
		const words = shuffled(VOCABULARY).slice(0, 1 + below(VOCABULARY.length));
		const echo = () => [
			...Array.from({ length: 1 + below(4) }, () => words).flat(),
			...words.slice(0, below(words.length)),
		];
		const speech = () => {
			const from = below(words.length);
			const at = below(words.length + 1);
			return pick([
				[pick(words)],
				words.slice(from, from + 1 + below(words.length - 1)),
				[...words.slice(1), words[0]],
				[...words].reverse(),
				words.flatMap((word) => [word, word]),
				[...words.slice(0, at), pick(others), ...words.slice(at)],
				[pick(others)],
			]);
		};
		const segments = Array.from({ length: 20 }, () => {
			const isEcho = words.length >= 3 && random() < 0.3;
			return { isEcho, text: written(isEcho ? echo() : speech()) };
		});
		answerWith(segments.map(({ text }) => text));
		const left = segments.filter(({ isEcho }) => !isEcho).map(({ text }) => text);
		const heard = await transcribe(written(words));
		// Blanks are made single on the way.
		const plain = left.map((text) => text.replace(/\s+/g, ' '));
		expect({ seed, run, words, heard }).toEqual({ seed, run, words, heard: plain });
	}
});
