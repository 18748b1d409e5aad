// Random replacements and corrections by hand, made and taken back in any order, compared with a model of
// the lines; and byte for byte with the first answers after all is taken back.
import fc from 'fast-check';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { seedOr, size } from '../../support/size.mts';
import { line, linesOf, markdownOf, talk } from '../people/client.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';
import { WordsClient } from './client.mts';

const TOKENS = [
	...['a', 'A', 'b', 'ab', 'ba', 'á', 'a\u0301', '1', 'ß', 'k', 'Kb', '𐐀', "don't", 'c++', '-'],
	...[
		'.',
		' ',
		' ',
		' ',
		'北',
		'京',
		'北京',
		'サー',
		'ก',
		'กา',
		'$&',
		'$1',
		'👩‍👧',
		'дом',
		'"',
		'\\',
	],
];

// The model's own words: character by character, without a regular expression of the words.
const BLANKLESS = /[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]/;
const isInWord = (character: string | undefined) =>
	character !== undefined && /^[\p{L}\p{N}\p{M}]$/u.test(character);
const isFree = (own: string, neighbor: string | undefined) =>
	!isInWord(own) || !isInWord(neighbor) || BLANKLESS.test(own) || BLANKLESS.test(neighbor!);

function replaced(text: string, heard: string, right: string): string {
	const [all, part] = [[...text], [...heard]];
	let made = '';
	for (let at = 0; at < all.length;) {
		const end = at + part.length;
		const isHere =
			part.every((each, nth) => all[at + nth]?.toLowerCase() === each.toLowerCase()) &&
			isFree(part[0], all[at - 1]) &&
			isFree(part.at(-1)!, all[end]);
		made += isHere ? right : all[at];
		at = isHere ? end : at + 1;
	}
	return made;
}

interface Words {
	id: string;
	heard: string;
	right: string;
}

/** A line: what is recorded or typed, and the replacements that have changed it since. */
interface ModelLine {
	recorded: string;
	startOffsetMs: number;
	typed?: string;
	words: Words[];
}

const textOf = ({ recorded, typed = recorded, words }: ModelLine) =>
	words.reduce((text, { heard, right }) => replaced(text, heard, right), typed);

const changes = (each: ModelLine, words: Words) => {
	const text = textOf(each);
	return replaced(text, words.heard, words.right) !== text;
};

const text = fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 8 }).map((all) => {
	const joined = all.join('').trim();
	return joined === '' ? 'a' : joined;
});
const words = fc
	.tuple(
		text.map((each) => (/[\p{L}\p{N}]/u.test(each) ? each : `${each}a`)),
		text,
	)
	.filter(([heard, right]) => heard !== right);
const short = fc
	.tuple(fc.constantFrom('a', 'b', 'ab', 'ba', 'a b', 'á', '北', 'ก'), text)
	.filter(([heard, right]) => heard !== right);
const loop = fc.constantFrom<[string, string]>(
	...([
		['a', 'b'],
		['b', 'a'],
		['ab', 'a'],
		['a', 'a b'],
		['b', 'B'],
		['A', 'ab'],
	] as [string, string][]),
);
const nth = fc.nat(1000);
const step = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant('replace' as const), words: loop }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), words: short }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('replace' as const), words }) },
	{ weight: 3, arbitrary: fc.record({ do: fc.constant('takeBack' as const), nth }) },
	{ weight: 3, arbitrary: fc.record({ do: fc.constant('type' as const), nth, text }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('giveBack' as const), nth }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

const START = Date.UTC(2026, 2, 1, 9);
const talks = fc.array(
	fc.array(fc.record({ place: fc.nat(3), recorded: text }), { minLength: 1, maxLength: 6 }),
	{ minLength: 1, maxLength: 5 },
);

/** Some of the lifelogs are on one day. */
const lifelogsOf = (all: { place: number; recorded: string }[][]): Lifelog[] =>
	all.map((lines, number) => {
		const nodes = lines.map(({ place, recorded }): ContentNode =>
			line('Anna', recorded, { startOffsetMs: place * 1000, endOffsetMs: 9000 }),
		);
		const startTime = new Date(START + number * 17 * 3_600_000).toISOString();
		return talk(`talk${number}`, startTime, nodes);
	});

class Model {
	readonly lines: ModelLine[][];
	readonly made: Words[] = [];

	constructor(lifelogs: Lifelog[]) {
		this.lines = lifelogs.map((lifelog) =>
			linesOf(lifelog).map(({ content, startOffsetMs }) => ({
				...{ recorded: content, startOffsetMs: startOffsetMs!, words: [] },
			})),
		);
	}

	/** What a replacement changes. Lines that were recorded alike at one time change together. */
	replace(each: Words): { lifelogs: number; lines: number } {
		const changed = this.lines.map((lines) => lines.filter((one) => changes(one, each)));
		for (const one of changed.flat()) one.words.push(each);
		this.made.push(each);
		const lines = changed.flat().length;
		return { lifelogs: changed.filter(({ length }) => length > 0).length, lines };
	}

	takeBack({ id }: Words): void {
		for (const one of this.lines.flat()) one.words = one.words.filter((each) => each.id !== id);
		this.made.splice(
			this.made.findIndex((each) => each.id === id),
			1,
		);
	}

	/** The number of a lifelog, and one of its lines. */
	line(place: number): [number, ModelLine] {
		const all = this.lines.flatMap((lines, number) =>
			lines.map((one): [number, ModelLine] => [number, one]),
		);
		return all[place % all.length];
	}

	/** @param typed Undefined for the recorded text. */
	type([number, { startOffsetMs, ...one }]: [number, ModelLine], typed?: string): void {
		const was = textOf({ ...one, startOffsetMs });
		const alike = this.lines[number].filter(
			(each) => each.startOffsetMs === startOffsetMs && textOf(each) === was,
		);
		for (const each of alike) Object.assign(each, { typed, words: [] });
	}
}

/** A server, and what it should answer. */
class Run {
	readonly client: WordsClient;
	readonly model: Model;

	constructor(client: WordsClient, lifelogs: Lifelog[]) {
		this.client = client;
		this.model = new Model(lifelogs);
	}

	async take(each: Step): Promise<void> {
		const { model, client } = this;
		if (each.do === 'replace') {
			const [heard, right] = each.words;
			const preview = await client.preview(heard, right);
			const { replacement } = await client.replace(heard, right);
			const expected = model.replace({ id: replacement.id, heard, right });
			expect(replacement).toMatchObject({ heard, right, ...expected, isDone: true });
			expect(preview).toMatchObject(expected);
			for (const { before, after } of preview.examples) {
				expect(after).toBe(replaced(before, heard, right));
			}
			return;
		}
		if (each.do === 'takeBack') {
			if (model.made.length === 0) return;
			const words = model.made[each.nth % model.made.length];
			expect(await client.takeBack(words.id)).toBe(200);
			model.takeBack(words);
			return;
		}
		const [number, one] = model.line(each.nth);
		const was = textOf(one);
		const typed = each.do === 'type' ? each.text : undefined;
		const change = { startOffsetMs: one.startOffsetMs, was, text: typed ?? null };
		expect((await client.edit(`talk${number}`, { lines: [change] })).status).toBe(200);
		model.type([number, one], typed);
	}

	async check(): Promise<void> {
		for (const [number, lines] of this.model.lines.entries()) {
			const { contents, markdown } = await this.client.get(`talk${number}`);
			const expected = lines.map(textOf);
			const shown = contents.slice(1).map(({ content }) => content);
			expect(shown).toEqual(expected);
			const nodes = expected.map((content) => ({ content, speakerName: 'Anna' }));
			expect(markdown).toBe(markdownOf(`talk${number}`, nodes));
		}
		const listed = (await this.client.replacements()).map(({ id }) => id);
		expect(listed).toEqual(this.model.made.map(({ id }) => id).reverse());
	}

	/** All answers, but when lifelogs were updated. */
	async answers(): Promise<string> {
		const paths = ['/v1/lifelogs?limit=25', '/v1/lifelogs?search=ab', '/v1/replacements'];
		const all = await Promise.all(paths.map((path) => this.client.send(path)));
		return JSON.stringify(all, (key, value: unknown) => (key === 'updatedAt' ? '' : value));
	}

	/** Takes everything back, in an order that these numbers choose. */
	async takeAllBack(order: number[]): Promise<void> {
		const { model } = this;
		for (let turn = 0; model.made.length > 0; turn += 1) {
			await this.take({ do: 'takeBack', nth: order[turn % order.length] });
			await this.check();
		}
		const count = model.lines.flat().length;
		for (let place = 0; place < count; place += 1) await this.take({ do: 'giveBack', nth: place });
	}
}

const seed = seedOr(20261121);
const numRuns = size(5, 20);
const maxLength = size(14, 30);

test(`lines are as the model has them, and as they were after all is taken back (seed ${seed})`, async () => {
	const property = fc.asyncProperty(
		talks,
		fc.array(step, { minLength: 4, maxLength, size: 'max' }),
		fc.array(nth, { minLength: 3, maxLength: 9 }),
		async (lines, steps, order) => {
			const folder = temporaryFolder();
			const lifelogs = lifelogsOf(lines);
			await writeArchive(folder, { lifelogs });
			const server = await startLifelogServer(folder, ['--allow-changes']);
			try {
				const run = new Run(new WordsClient(server), lifelogs);
				const before = await run.answers();
				for (const each of steps) {
					await run.take(each);
					await run.check();
				}
				expect(await findingsIn(folder)).toEqual([]);
				await run.takeAllBack(order);
				expect(await run.answers()).toBe(before);
			} finally {
				await server.close();
			}
		},
	);
	await fc.assert(property, { seed, numRuns, endOnFailure: false });
});
