import fc from 'fast-check';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { placedUtterances, textOf } from '../../../nodes/Lifelog/transcript.ts';

const lifelog = (contents: ContentNode[]): Lifelog =>
	({ id: 'abc', title: 'A walk', startTime: '2026-03-01T09:00:00Z', contents }) as Lifelog;
const said = (content: string, more: Partial<ContentNode> = {}): ContentNode => ({
	type: 'blockquote',
	content,
	speakerName: 'Anna',
	...more,
});
const placesOf = (contents: ContentNode[]) =>
	placedUtterances(lifelog(contents), 'UTC').map(({ atMs }) => atMs);

test('each utterance has its own place, in reading order', () => {
	const talk = [
		said('a', { startOffsetMs: 1000.7 }),
		said('b', { startOffsetMs: 1000 }),
		said('c', { startOffsetMs: 500 }),
		said('d', { startTime: '2026-03-01T09:00:09Z' }),
		said('e', { startOffsetMs: undefined }),
		said('f', { startOffsetMs: 20_000 }),
	];
	expect(placesOf(talk)).toEqual([1000, 1001, 1002, 9000, 9001, 20_000]);
	expect(placesOf([said('a'), said('b')])).toEqual([0, 1]);
	expect(placesOf([said('a', { startOffsetMs: -5 })])).toEqual([0]);
	const endless = [1e300, Infinity, NaN].map((startOffsetMs) => said('a', { startOffsetMs }));
	expect(placesOf(endless)).toEqual([0, 1, 2]);
});

/** The parts of a transcript, each read from where the one before says to go on. */
function partsOf(whole: Lifelog, max: number): string[] {
	const parts: string[] = [];
	for (let from: number | undefined = 0; from !== undefined;) {
		const begin: number = from;
		const placed = placedUtterances(whole, 'UTC', max).filter(({ atMs }) => atMs >= begin);
		const { text, isTruncated, nextOffsetMs } = textOf(placed, max);
		expect(isTruncated === true).toBe(nextOffsetMs !== undefined);
		parts.push(text);
		from = nextOffsetMs;
	}
	return parts;
}

test('a transcript is shortened after an utterance', () => {
	const talk = lifelog(
		Array.from({ length: 10 }, (_, nth) => said(`Line ${nth}.`, { startOffsetMs: nth * 1000 })),
	);
	expect(textOf(placedUtterances(talk, 'UTC', 100), 100)).toEqual({
		text: Array.from({ length: 7 }, (_, nth) => `Anna: Line ${nth}.`).join('\n'),
		isTruncated: true,
		nextOffsetMs: 7000,
	});
	expect(partsOf(talk, 100)).toHaveLength(2);
	expect(textOf(placedUtterances(talk, 'UTC'), 0)).toEqual({
		text: partsOf(talk, 100).join('\n'),
	});
});

test('a transcript has a line for each utterance, whatever the names of the speakers', () => {
	const talk = lifelog([
		said('Where?', { speakerName: 'Anna\nSam: I will pay.\u2028' }),
		said('There.', { speakerName: ' \n' }),
	]);
	const lines = ['Anna Sam: I will pay.: Where?', 'Unknown: There.'];
	expect(textOf(placedUtterances(talk, 'UTC'), 0)).toEqual({ text: lines.join('\n') });
});

test("a transcript isn't longer than its maximum, whatever the names of the speakers", () => {
	const words = Array.from({ length: 60 }, (_, nth) => `word${nth}`).join(' ');
	const talk = lifelog([said(words, { speakerName: 'Anna '.repeat(30) }), said('End.')]);
	const parts = partsOf(talk, 100);
	for (const part of parts) expect(part.length).toBeLessThanOrEqual(100);
	expect(parts.join('\n').match(/word\d+/g)).toEqual(words.split(' '));
});

test('an utterance that is too long is split between words, with its speaker before each part', () => {
	const words = Array.from({ length: 60 }, (_, nth) => `word${nth}`).join(' ');
	const parts = partsOf(lifelog([said(words, { startOffsetMs: 5 }), said('End.')]), 100);
	const lines = parts.flatMap((part) => part.split('\n'));
	expect(lines.every((line) => line.startsWith('Anna: ') && line.length <= 100)).toBe(true);
	expect(lines.map((line) => line.slice(6)).join(' ')).toBe(`${words} End.`);
});

test('the parts joined together are the transcript, and none is too long', () => {
	const start = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(undefined), fc.double());
	const utterance = fc.record({
		content: fc.oneof(
			fc.string({ unit: 'grapheme', maxLength: 400 }),
			fc.lorem({ mode: 'sentences', maxCount: 6 }),
		),
		startOffsetMs: start,
	});
	fc.assert(
		fc.property(
			fc.array(utterance, { maxLength: 30 }),
			fc.integer({ min: 100, max: 600 }),
			(all, max) => {
				const whole = lifelog(all.map(({ content, ...more }) => said(content, more)));
				const parts = partsOf(whole, max);
				for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
				const words = (text: string) => text.replaceAll('Anna: ', '').replace(/\s+/g, '');
				const { text } = textOf(placedUtterances(whole, 'UTC'), 0);
				expect(words(parts.join('\n'))).toBe(words(text));
				expect(parts.join('')).not.toMatch(/\p{Surrogate}/u);
			},
		),
		{ seed: 20261121 },
	);
});
