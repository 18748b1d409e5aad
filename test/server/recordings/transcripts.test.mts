import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toSrt, toVtt } from '../../../lifelog/files/subtitles.ts';
import { readTranscript } from '../../../server/recordings/transcript.mts';
import { seededRandom } from '../../support/seededRandom.mts';

const fixture = (name: string) =>
	readFileSync(join(process.cwd(), 'test/server/recordings/transcripts', name), 'utf8');

const said = (speakers: (string | undefined)[]) =>
	[
		{ text: 'Did the tomatoes get any water today?', startMs: 0, endMs: 2400 },
		{ text: 'Not yet, the hose is leaking.', startMs: 2600, endMs: 4100 },
		{ text: 'Then I will fix it after lunch.', startMs: 4500, endMs: 7000 },
	].map((segment, index) => ({
		...segment,
		...(speakers[index] !== undefined && { speaker: speakers[index] }),
	}));

const forms: [string, (string | undefined)[]][] = [
	['openai-verbose.json', []],
	['openai-words.json', []],
	['openai-diarized.json', ['A', 'B', 'A']],
	['speaches-verbose.json', ['A', 'B', 'A']],
	['localai-verbose.json', ['A', 'B', 'A']],
	['whisper-cpp-verbose.json', []],
	['mistral-diarized.json', ['speaker_1', 'speaker_2', 'speaker_1']],
	['whisper.srt', []],
	['whisper.vtt', []],
	['whisperx.srt', ['SPEAKER_00', 'SPEAKER_01', 'SPEAKER_00']],
	['voices.vtt', ['Anna & Co', 'Ben', 'Anna & Co']],
];

describe('every form of a transcript becomes the same segments', () => {
	test.each(forms)('%s', (name, speakers) => {
		expect(readTranscript(fixture(name))).toEqual({ segments: said(speakers) });
	});

	test.each(forms.filter(([name]) => name.endsWith('.json')))('%s, parsed', (name, speakers) => {
		expect(readTranscript(JSON.parse(fixture(name)))).toEqual({ segments: said(speakers) });
	});

	test.each(['whisperx.srt', 'voices.vtt'])('%s from Windows', (name) => {
		const text = `\ufeff${fixture(name).replaceAll('\n', '\r\n')}`;
		expect(readTranscript(text)).toEqual(readTranscript(fixture(name)));
	});

	test('numbers that are written as strings', () => {
		const verbose = JSON.parse(fixture('openai-verbose.json'));
		for (const segment of verbose.segments) {
			Object.assign(segment, { start: `${segment.start}`, end: ` ${segment.end} ` });
		}
		expect(readTranscript(verbose).segments).toEqual(said([]));
	});

	test('words without a full stop are split, too', () => {
		const words = Array.from({ length: 300 }, (_, n) => ({ word: 'word', start: n, end: n + 1 }));
		const { segments } = readTranscript({ words });
		expect(segments.map(({ text }) => text.length)).toEqual([504, 504, 489]);
		expect(segments[1].startMs).toBe(segments[0].endMs);
	});

	test.each<[string, unknown[], string[]]>([
		['that have their own spaces', [' Don', "'t", ' go', ','], ["Don't go,"]],
		['that have theirs behind them', ['Do ', 'not ', 'go.'], ['Do not go.']],
		['without spaces', ['Do', 'it', ',', 'please', '!', '”', 'Now'], ['Do it, please!”', 'Now']],
		['of Chinese', ['明天', '八', '点', '，', '好', '吗', '？'], ['明天八点，好吗？']],
		['of Japanese', ['コーヒー', 'を', 'OK', 'です', '。'], ['コーヒーを OK です。']],
		['of Korean', ['내일', '여덟', '시'], ['내일 여덟 시']],
	])('words %s are joined as they are written', (_name, texts, expected) => {
		const words = texts.map((word, n) => ({ word, start: n / 2, end: n / 2 + 0.4 }));
		expect(readTranscript({ words }).segments.map(({ text }) => text)).toEqual(expected);
	});

	test('the words of a segment are read if it has no text, or if only they have speakers', () => {
		const [first, ...others] = said(['A', 'B', 'B']);
		const wordsOf = (text: string, startMs: number, endMs: number, speaker?: string) =>
			text.split(' ').map((word, n, { length }) => ({
				...{ word: ` ${word}`, speaker },
				start: (startMs + ((endMs - startMs) / length) * n) / 1000,
				end: (startMs + ((endMs - startMs) / length) * (n + 1)) / 1000,
			}));
		const [second, third] = others;
		const words = others.flatMap(({ text, startMs, endMs }) => wordsOf(text, startMs, endMs, 'B'));
		const segments = [
			{ start: 0, end: 2.4, speaker_id: 'A', words: wordsOf(first.text, 0, 2400) },
			{ text: `${second.text} ${third.text}`, start: 2.6, end: 7, words },
		];
		expect(readTranscript({ segments }).segments).toEqual([first, second, third]);
	});

	test('a word without times, such as a number, stays with the word before it', () => {
		const words = [
			{ word: 'In', start: 0.2, end: 0.4, speaker: 'A' },
			{ word: '2026' },
			{ word: 'it', start: 1, end: 1.2, speaker: 'A' },
			{ word: 'rained.', start: 1.2, end: 1.8, speaker: 'A' },
		];
		const segments = [{ text: 'In 2026 it rained.', start: 0.2, end: 1.8, words }];
		expect(readTranscript({ segments }).segments).toEqual([
			{ text: 'In 2026 it rained.', startMs: 200, endMs: 1800, speaker: 'A' },
		]);
	});

	test('JSON with a byte-order mark', () => {
		const text = `\ufeff${fixture('openai-verbose.json')}`;
		expect(readTranscript(text)).toEqual({ segments: said([]) });
	});

	test('words after the end of a voice have no speaker', () => {
		const vtt = `WEBVTT\n\n00:00.000 --> 00:02.000\n<v Anna>Hello.</v> Somebody coughs. <v Ben>Bye.</v>`;
		const times = { startMs: 0, endMs: 2000 };
		expect(readTranscript(vtt).segments).toEqual([
			{ text: 'Hello.', ...times, speaker: 'Anna' },
			{ text: 'Somebody coughs.', ...times },
			{ text: 'Bye.', ...times, speaker: 'Ben' },
		]);
	});

	test('numbers as speakers', () => {
		const transcript = [{ text: 'a', start: 0, end: 1, speaker: 0 }];
		expect(readTranscript(transcript).segments[0].speaker).toBe('Speaker 0');
	});

	test('an Omi conversation also has its time, its title and the wearer', () => {
		const { segments, ...more } = readTranscript(fixture('omi-webhook.json'));
		expect(segments).toEqual([
			{ ...said(['You'])[0], isWearer: true },
			...said(['', 'Anna', 'SPEAKER_02']).slice(1),
		]);
		expect(more).toEqual({
			startTime: '2026-03-01T08:04:12.384323+00:00',
			endTime: '2026-03-01T08:04:30.384323+00:00',
			title: 'A leaking garden hose',
			externalId: 'memory_tomatoes1',
		});
	});

	test('subtitles whose words have an arrow, and whose lines are indented', () => {
		const srt = ` 1\n 00:00:00,000 --> 00:00:01,000\n5 --> 6 is one\n\n2\n\t00:00:01,000 --> 00:00:02,000\nBye.`;
		expect(readTranscript(srt).segments).toEqual([
			{ text: '5 --> 6 is one', startMs: 0, endMs: 1000 },
			{ text: 'Bye.', startMs: 1000, endMs: 2000 },
		]);
	});

	test('subtitles from Export Lifelogs', () => {
		const segments = said(['Anna', 'Ben <3 & Co', 'Anna']);
		const pieces = segments.map(({ text, startMs, endMs, speaker }) => ({
			text,
			startOffsetMs: startMs,
			endOffsetMs: endMs,
			speaker: { name: speaker },
		})) as unknown as Parameters<typeof toSrt>[0];
		expect(readTranscript(toSrt(pieces))).toEqual({ segments });
		expect(readTranscript(toVtt(pieces))).toEqual({ segments });
	});

	test("a colon in only one of several subtitles doesn't name a speaker", () => {
		const srt = `1\n00:00:00,000 --> 00:00:01,000\nNote: bring milk\n\n2\n00:00:01,000 --> 00:00:02,000\nwill do`;
		expect(readTranscript(srt).segments.map(({ text }) => text)).toEqual([
			'Note: bring milk',
			'will do',
		]);
	});

	test.each([
		['SRT', '1\n00:00:00,000 --> 00:00:01,000\nReminder: buy milk'],
		['WebVTT', 'WEBVTT\n\n00:00.000 --> 00:01.000\nReminder: buy milk'],
	])("a colon in the only subtitle of %s doesn't name a speaker", (_form, text) => {
		expect(readTranscript(text).segments).toEqual([
			{ text: 'Reminder: buy milk', startMs: 0, endMs: 1000 },
		]);
	});
});

describe('wrong times', () => {
	const one = { text: 'a', start: 0, end: 1 };

	test('are corrected if they are only a little wrong', () => {
		const transcript = [
			{ ...one, start: -0.01 },
			{ text: 'b', start: 5, end: 4.9 },
		];
		const expected = [
			{ text: 'a', startMs: 0, endMs: 1000 },
			{ text: 'b', startMs: 5000, endMs: 5000 },
		];
		expect(readTranscript(transcript).segments).toEqual(expected);
		expect(readTranscript({ segments: transcript }).segments).toEqual(expected);
	});

	test('are corrected in an Omi conversation, and no words are left out', () => {
		const transcript_segments = [
			{ text: 'Bye.', start: 5, end: 4.5, is_user: true },
			{ text: 'Hello.', start: -3, end: 1 },
			{ text: 'When?', start: null, end: 7 },
			{ text: ' ', start: 7, end: 6 },
			{ text: null, start: 8, end: 9 },
			{ text: 'Later.', start: 6, end: 7, speaker: {} },
		];
		expect(readTranscript({ transcript_segments }).segments).toEqual([
			{ text: 'Hello.', startMs: 0, endMs: 1000 },
			{ text: 'When?', startMs: 1000, endMs: 7000 },
			{ text: 'Bye.', startMs: 5000, endMs: 5000, speaker: 'You', isWearer: true },
			{ text: 'Later.', startMs: 6000, endMs: 7000 },
		]);
	});

	test("don't change the unit of the other times if only one end is far off", () => {
		const segments = [one, { ...one, start: 3, end: 4 }, { ...one, start: 5, end: 2e7 }];
		expect(() => readTranscript({ segments })).toThrow(/segment 3 ends more than 48 hours/);
	});
});

describe('missing times', () => {
	const spans = (value: unknown, lengthMs?: number) =>
		readTranscript(value, lengthMs).segments.map(({ text, startMs, endMs }) => [
			...[text, startMs, endMs],
		]);
	const timed = (...times: [start?: number | null, end?: number | null][]) =>
		times.map(([start, end], index) => ({ text: `Line ${index}.`, start, end }));

	/** Each form as a list is sent in it, with audio that is 9.5 s long. */
	const forms: [string, (segments: ReturnType<typeof timed>) => unknown][] = [
		['a list', (segments) => segments],
		['a list as a text', (segments) => JSON.stringify(segments)],
		['verbose_json', (segments) => ({ segments, duration: 9.5 })],
		['verbose_json with its length as a text', (segments) => ({ segments, duration: '9.5' })],
		[
			'words',
			(words) => ({ words: words.map(({ text, ...times }) => ({ word: text, ...times })) }),
		],
		[
			'words of one segment',
			(words) => ({
				segments: [
					{
						start: 0,
						end: 9.5,
						words: words.map(({ text, ...times }) => ({ word: text, ...times })),
					},
				],
			}),
		],
		[
			'Omi',
			(transcript_segments) => ({
				transcript_segments,
				started_at: '2026-03-01T08:00:00Z',
				finished_at: '2026-03-01T08:00:09.5Z',
			}),
		],
	];

	describe.each(forms)('in %s', (_name, form) => {
		test.each<[string, ReturnType<typeof timed>, unknown[]]>([
			[
				'the last end is the end of the audio',
				timed([0, 2], [2.5, null]),
				[
					['Line 0.', 0, 2000],
					['Line 1.', 2500, 9500],
				],
			],
			[
				'another end is the next start',
				timed([0, null], [2.5, undefined], [4, 5]),
				[
					['Line 0.', 0, 2500],
					['Line 1.', 2500, 4000],
					['Line 2.', 4000, 5000],
				],
			],
			[
				'a start is the end before',
				timed([null, 2], [null, 3], [undefined, 4]),
				[
					['Line 0.', 0, 2000],
					['Line 1.', 2000, 3000],
					['Line 2.', 3000, 4000],
				],
			],
			[
				'a start without an end before is the start before',
				timed([1, null], [null, 4], [5, 6]),
				[
					['Line 0.', 1000, 5000],
					['Line 1.', 1000, 4000],
					['Line 2.', 5000, 6000],
				],
			],
		])('%s', (_what, segments, expected) => {
			expect(spans(form(segments), 9500)).toEqual(expected);
		});

		test('no words are lost, in any combination', () => {
			const random = seededRandom(55);
			for (let run = 0; run < 300; run += 1) {
				const maybe = (time: number) => (random() < 0.5 ? time : null);
				const segments = timed(
					...Array.from(
						{ length: 1 + Math.floor(random() * 6) },
						(_, n): [number | null, number | null] => [
							...([maybe(n + 0.25), maybe(n + 0.75)] as const),
						],
					),
				);
				const { segments: read } = readTranscript(form(segments), 9500);
				// Words without any time belong to the words before them.
				const words = read
					.map(({ text }) => text)
					.join(' ')
					.split(/(?<=\.) /)
					.sort();
				expect([segments, words]).toEqual([segments, segments.map(({ text }) => text)]);
				for (const { startMs, endMs } of read) {
					expect(startMs).toBeGreaterThanOrEqual(0);
					expect(endMs).toBeGreaterThanOrEqual(startMs);
					expect(endMs).toBeLessThanOrEqual(9500);
				}
			}
		});
	});

	test('the last segment is as short as is known, if the length of the audio is not', () => {
		expect(spans(timed([0, 2], [2.5, null]))).toEqual([
			['Line 0.', 0, 2000],
			['Line 1.', 2500, 2500],
		]);
		expect(spans(timed([null, null]))).toEqual([['Line 0.', 0, 0]]);
	});

	test("don't hide that the others are nanoseconds", () => {
		const segments = timed([0, 2e9], [2e9, null], [4e9, null]);
		expect(spans({ segments })).toEqual([
			...[
				['Line 0.', 0, 2000],
				['Line 1.', 2000, 4000],
				['Line 2.', 4000, 4000],
			],
		]);
	});
});

describe('tags and entities of subtitles', () => {
	const vtt = (text: string) => `WEBVTT\n\n00:00.000 --> 00:02.000\n${text}`;
	const srt = (text: string) => `1\n00:00:00,000 --> 00:00:02,000\n${text}`;
	const read = (subtitles: string) =>
		readTranscript(subtitles).segments.map(({ speaker, text }) =>
			speaker ? [speaker, text] : text,
		);

	test.each([
		['It&#39;s &quot;caf&eacute;&quot;', `It's "café"`],
		['&#x1F984; &#8212; &hellip; &euro;', '🦄 — … €'],
		['Anna &amp; Ben &lt;3', 'Anna & Ben <3'],
		['one&nbsp;two', 'one two'],
		['&amp;#39; stays', '&#39; stays'],
		['AT&T, R&D; &unknown;', 'AT&T, R&D; &unknown;'],
		['{\\an8}Up', 'Up'],
		['{\\an8}{\\i1}Up{\\i0} and {\\pos(10,20)}down', 'Up and down'],
		['{y:i}Up', 'Up'],
		['a {smile} stays', 'a {smile} stays'],
		['<i>so</i> <b>it</b> <u>is</u>', 'so it is'],
		['<font color="#ffff00" size=12>yellow</font>', 'yellow'],
		['<FONT COLOR=red>red</FONT>', 'red'],
		['<c.yellow.bg_blue>Who</c> <00:00:01.000><c>is</c> it?', 'Who is it?'],
		['<lang en-GB>Colour</lang>', 'Colour'],
		['<ruby>漢<rt>かん</rt></ruby>字', '漢かん字'],
		['one<br>two<br/>three', 'one two three'],
		['one\\Ntwo', 'one two'],
		['one\n<i>two\nthree</i>', 'one two three'],
		['5 < 6 and', '5 < 6 and'],
	])('%j', (text, expected) => {
		expect(read(vtt(text))).toEqual([expected]);
		expect(read(srt(text))).toEqual([expected]);
		expect(read(`\ufeff${vtt(text)}`.replaceAll('\n', '\r\n'))).toEqual([expected]);
		expect(read(`\ufeff${srt(text)}`.replaceAll('\n', '\r\n'))).toEqual([expected]);
	});

	test.each([
		['<v Ren&eacute;e &amp; Ben>Hi</v>', [['Renée & Ben', 'Hi']]],
		['<v.loud &quot;Ace&quot;>{\\an8}Don&#39;t <i>go</i>!', [['"Ace"', "Don't go!"]]],
		['<v\tAnna>Hi</v> cough <V Ben>Bye</V>', [['Anna', 'Hi'], 'cough', ['Ben', 'Bye']]],
	])('voices: %j', (text, expected) => {
		expect(read(vtt(text))).toEqual(expected);
		expect(read(srt(text))).toEqual(expected);
	});

	test('names that are formatted', () => {
		const text = `${srt('<b>Anna:</b> Hi')}\n\n2\n00:00:02,000 --> 00:00:03,000\n{\\an8}Ben: It&#39;s me`;
		expect(read(text)).toEqual([
			['Anna', 'Hi'],
			['Ben', "It's me"],
		]);
	});

	test("SubRip keeps what isn't a tag", () => {
		expect(read(srt('<laughs> 1 < 2 > 0 <3\nNOTE: milk'))).toEqual([
			'<laughs> 1 < 2 > 0 <3 NOTE: milk',
		]);
	});

	test('WebVTT has blocks without words, also with arrows', () => {
		const blocks = [
			...['STYLE\n::cue(v[voice="Anna"]) { color: red }', 'REGION\nid:a\nwidth:40%'],
			...['NOTE', 'NOTE one\ntwo', 'NOTE a --> b', 'NOTE\n00:00.000 --> 00:01.000\nnot said'],
		];
		const cue = 'NOTES 1\n00:00.000 --> 00:02.000 region:a align:left\nHello.';
		expect(
			read(['WEBVTT - title\nKind: captions', ...blocks, cue, ...blocks].join('\n\n')),
		).toEqual(['Hello.']);
	});
});

describe('the order and the words of segments', () => {
	test('are cleaned up: sorted by start, overlaps kept, empty ones left out, each on one line', () => {
		const transcript = [
			{ text: ' later\n# no heading \u0007', start: 5, end: 6 },
			{ text: '  ', start: 4, end: 5 },
			{ text: 'first', start: 0, end: 5.5 },
		];
		expect(readTranscript(transcript).segments).toEqual([
			{ text: 'first', startMs: 0, endMs: 5500 },
			{ text: 'later # no heading', startMs: 5000, endMs: 6000 },
		]);
	});

	test('a name loses characters that change the text direction', () => {
		const transcript = [{ text: 'a', start: 0, end: 1, speaker: '\u202eannA\u2066' }];
		expect(readTranscript(transcript).segments[0].speaker).toBe('annA');
	});

	test('a name may be the same as a property of every object', () => {
		const transcript = [{ text: 'a', start: 0, end: 1, speaker: '__proto__' }];
		expect(readTranscript(transcript).segments[0].speaker).toBe('__proto__');
	});
});

describe('an invalid transcript is refused, with what is wrong', () => {
	const one = { text: 'secret words', start: 0, end: 1 };
	const with2 = (change: object) => [one, { ...one, ...change }];
	test.each<[string, unknown, RegExp]>([
		['a number', 5, /unknown form/],
		['null', null, /unknown form/],
		['no segment', [], /has no words/],
		['only silence', [{ ...one, text: ' ' }], /has no words/],
		['a segment that is a text', [one, 'x'], /segment 2 is not an object/],
		['no text', with2({ text: undefined }), /segment 2 has no 'text'/],
		['a start before the beginning', with2({ start: -0.1 }), /segment 2 has no usable 'start'/],
		[
			'an end that is 0.2 s early',
			with2({ start: 1, end: 0.8 }),
			/segment 2 ends before it starts/,
		],
		['a start that is a word', with2({ start: 'NaN' }), /segment 2 has no usable 'start'/],
		['an empty start', with2({ start: '' }), /segment 2 has no usable 'start'/],
		['an end without end', with2({ end: 'Infinity' }), /segment 2 has no usable 'end'/],
		['an end that is a list', with2({ end: [1] }), /segment 2 has no usable 'end'/],
		['an end before its start', with2({ start: 3, end: 2 }), /segment 2 ends before it starts/],
		['milliseconds', with2({ end: 900_000 }), /segment 2 ends more than 48 hours/],
		['a speaker that is an object', with2({ speaker: {} }), /segment 2 has no usable 'speaker'/],
		['too many', Array(20_001).fill(one), /has 20001 segments/],
		['a word without end', with2({ text: 'x'.repeat(20_001) }), /segment 2 has more than 20000/],
		['a book', Array(201).fill({ ...one, text: 'x '.repeat(5000) }), /more than 2000000/],
		['plain JSON', { text: 'all of it' }, /ask for verbose_json/],
		['an empty verbose_json', { segments: [], text: '' }, /ask for verbose_json/],
		['a word without a word', { words: [{ start: 0, end: 1 }] }, /word 1 has no 'word'/],
		['half of JSON', '[{"text": "secret words"', /not valid JSON/],
		['subtitles of a year', `WEBVTT\n\n${'<v '.repeat(1_400_000)}`, /more than 4000000 characters/],
		['a text without times', 'secret words', /not valid SRT/],
		['an empty text', '', /has no words/],
		['SRT with half a time', '1\n00:00:01,000 --> 00:00\nsecret words', /segment 1 has no usable/],
		[
			'SRT with an end before its start',
			'1\n00:00:00,000 --> 00:00:01,000\na\n\n2\n00:00:05,000 --> 00:00:01,000\nb',
			/segment 2 ends before/,
		],
		[
			'WebVTT with a comma',
			'WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:02,000 --> 00:03,000\nsecret words',
			/segment 2 has no usable times/,
		],
		['WebVTT without cues', 'WEBVTT\n\n', /has no words/],
		[
			'tags without end',
			`WEBVTT\n\n00:01.000 --> 00:02.000\n${'<b>'.repeat(200_000)}`,
			/WebVTT|words/,
		],
	])('%s', (_name, transcript, problem) => {
		let error: Error & { statusCode?: number } = new Error('was accepted');
		try {
			readTranscript(transcript);
		} catch (thrown) {
			error = thrown as Error;
		}
		expect(error.message).toMatch(problem);
		expect(error.statusCode).toBe(400);
		expect(error.message).not.toMatch(/secret|NaN|Infinity/);
	});
});
