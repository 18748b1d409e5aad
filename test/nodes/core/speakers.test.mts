import fc from 'fast-check';
import { isLabel, shownNames } from '../../../lifelog/speakers.ts';

/** Each label as people write it. */
const LABELS: Record<string, string> = {
	SPEAKER_00: 'Speaker 1',
	'SPEAKER_00 (2)': 'Speaker 1 (2)',
	speaker_1: 'Speaker 2',
	spk_0: 'Speaker 1',
	'spk-2': 'Speaker 2',
	'SPEAKER 01': 'Speaker 2',
	'Speaker 3': 'Speaker 3',
	S3: 'Speaker 3',
	'3': 'Speaker 3',
	A: 'Speaker A',
	b: 'Speaker B',
	'Speaker A': 'Speaker A',
	'A (2)': 'Speaker A (2)',
	Unknown: 'Unknown',
	'Unknown Speaker': 'Unknown Speaker',
	unknown_speaker: 'unknown_speaker',
	You: 'You',
	Speaker: 'Speaker',
	'Unknown 2': 'Unknown 2',
	'Unknown Speaker 2': 'Unknown Speaker 2',
	// As only a computer tells it from the ones above.
	'Speaker  3': 'Speaker 3',
	'Speaker\u00a03': 'Speaker 3',
	'Spea\u200bker\t3(2)': 'Speaker 3 (2)',
	'Ｓpeaker １ （2）': 'Speaker 1 (2)',
	ＳＰＥＡＫＥＲ_００: 'Speaker 1',
	'Speaker ٣': 'Speaker ٣',
	'३': '३',
	'𝟑': 'Speaker 3',
	Ａ: 'Speaker A',
	'\u200bYou': '\u200bYou',
	'\u200b': '\u200b',
	'': '',
	' ': ' ',
};

test.each(Object.entries(LABELS))('%j is a label, and is shown as %j', (label, shown) => {
	for (const written of [label, label.toLowerCase(), label.toUpperCase()]) {
		expect(isLabel(written)).toBe(true);
	}
	expect(shownNames([label])).toEqual(new Map([[label, shown]]));
	expect(isLabel(shown)).toBe(true);
});

test.each(['Anna', 'Al', 'Su', 'Speaker Jones', 'Anna (2)', 'Bob 3', '__proto__', 'K9', 'Юля'])(
	'%j is a name, and stays',
	(name) => {
		expect(isLabel(name)).toBe(false);
		expect(shownNames([name])).toEqual(new Map([[name, name]]));
	},
);

test.each([
	[
		['SPEAKER_00', 'spk_0'],
		['Speaker 1', 'spk_0'],
	],
	[
		['SPEAKER_00', 'Speaker 1'],
		['SPEAKER_00', 'Speaker 1'],
	],
	[
		['A', 'a'],
		['Speaker A', 'a'],
	],
])('%j are never shown alike', (names, shown) => {
	expect([...shownNames(names).values()]).toEqual(shown);
});

test('whatever the names of a lifelog, no two are shown alike, and labels stay labels', () => {
	const label = fc.constantFrom(...Object.keys(LABELS), '1', 'Speaker 1', 'speaker_00', 'SPK_1');
	fc.assert(
		fc.property(fc.uniqueArray(fc.oneof(label, fc.string())), (names) => {
			const shown = shownNames(names);
			expect([...shown.keys()]).toEqual(names);
			expect(new Set(shown.values()).size).toBe(names.length);
			for (const [name, form] of shown) expect(isLabel(form)).toBe(isLabel(name));
		}),
	);
});
