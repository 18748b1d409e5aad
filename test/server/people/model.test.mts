// Random renames, merges and separations, compared with a model of what people are called: in every way
// that names come out of a server, and byte for byte with the first answers after all is taken back.
import { en, Faker } from '@faker-js/faker';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { contentsOf } from '../../support/archiveCommand.mts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { seedOr, size } from '../../support/size.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { line, linesOf, markdownOf, PeopleClient, talk } from './client.mts';

const seed = seedOr(20261121);
const random = new Faker({ locale: en, seed });
const pick = <T,>(all: readonly T[]) => random.helpers.arrayElement(all);

const NAMES = [
	...['Anna', 'anna', 'Ánna', 'Anna M.', 'Anna Meier', 'Bo', 'Speaker Jones', 'Юля', '李雷'],
	...[
		'__proto__',
		'constructor',
		'toString',
		'..',
		'/',
		'%2F',
		'a/../b',
		'"quoted"',
		'<b>',
		"O'Neil",
	],
	...['דוד לוי', '👩‍👩‍👧', 'x'.repeat(200)],
];
const LABELS = ['SPEAKER_00', 'Speaker 3', 'A', '7', 'Unknown', 'You'];
const LIFELOGS = 30;

interface Person {
	name: string;
	also: Set<string>;
	isMe: boolean;
}
type Spoken = { recorded: string | null; isUser: boolean };

const isLabel = (name: string | null) => name === null || LABELS.includes(name);

/** What people are called. */
class Model {
	people: Person[] = [];
	readonly said: Map<string, Spoken[]>;

	constructor(said: Map<string, Spoken[]>) {
		this.said = said;
	}

	isHeard = (name: string) =>
		[...this.said.values()].flat().some(({ recorded }) => recorded === name);
	find(name: string): Person | undefined {
		const known = this.people.find((each) => each.name === name || each.also.has(name));
		return known ?? (this.isHeard(name) ? { name, also: new Set(), isMe: false } : undefined);
	}
	#put(old: (Person | undefined)[], now: Person): void {
		this.people = [...this.people.filter((each) => !old.includes(each)), now].filter(
			({ also, isMe }) => also.size > 0 || isMe,
		);
	}
	rename(person: string, name: string, merge: boolean): number {
		const [own, other] = [this.find(person), this.find(name)];
		if (isLabel(person) || isLabel(name)) return 400;
		if (!own) return 404;
		if (own.name === name) return 200;
		const isOther = other !== undefined && other.name !== own.name;
		if (isOther && !merge) return 409;
		const isBack = own.also.has(name) && !this.isHeard(own.name);
		const also = new Set([...own.also, ...(isBack ? [] : [own.name])]);
		if (isOther) for (const each of [other.name, ...other.also]) also.add(each);
		also.delete(name);
		this.#put([own, other], { name, also, isMe: own.isMe || (isOther && other.isMe) });
		return 200;
	}
	separate(person: string, names: string[]): number {
		const own = this.find(person);
		if (isLabel(person)) return 400;
		if (!own) return 404;
		if (names.some((name) => !own.also.has(name))) return 400;
		this.#put([own], {
			...own,
			also: new Set([...own.also].filter((name) => !names.includes(name))),
		});
		return 200;
	}
	setMe(person: string, isMe: boolean): number {
		const own = this.find(person);
		if (isLabel(person)) return 400;
		if (!own) return 404;
		if (isMe) for (const each of [...this.people]) this.#put([each], { ...each, isMe: false });
		const now = this.find(person)!;
		this.#put([now], { ...now, isMe });
		return 200;
	}
	shown({ recorded, isUser }: Spoken): { name: string | null; isUser: boolean } {
		const me = this.people.find(({ isMe }) => isMe);
		const isMine = isUser && isLabel(recorded) && me;
		const name = isMine
			? me.name
			: recorded === null
				? null
				: (this.find(recorded)?.name ?? recorded);
		return { name, isUser: isUser || (me !== undefined && me.name === name) };
	}
}

let server: SpawnedServer;
let client: PeopleClient;
let folder: string;
let model: Model;
let stored: Lifelog[];

beforeAll(async () => {
	const said = new Map<string, Spoken[]>();
	stored = Array.from({ length: LIFELOGS }, (_, nth) => {
		const id = `talk${nth}`;
		const lines = Array.from({ length: random.number.int({ min: 0, max: 5 }) }, () => ({
			recorded: pick([...NAMES.slice(0, 16), ...NAMES.slice(-3), ...LABELS, null]),
			isUser: random.datatype.boolean(0.2),
		}));
		said.set(id, lines);
		const nodes = lines.map(({ recorded, isUser }, at): ContentNode =>
			line(recorded, `Word${at} of ${id}.`, { speakerIdentifier: isUser ? 'user' : null }),
		);
		return talk(id, new Date(Date.UTC(2026, 2, 1 + (nth % 5), 8, nth)).toISOString(), nodes);
	});
	model = new Model(said);
	folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: stored });
	server = await startLifelogServer(folder, ['--allow-changes']);
	client = new PeopleClient(server);
});
afterAll(() => server.close());

/** All answers with names, as they come. */
async function answers(): Promise<string[]> {
	const paths = [
		...['/v1/people?limit=100', '/v1/lifelogs?limit=25', '/v1/lifelogs?limit=25&direction=asc'],
		...['/v1/lifelogs?limit=100', '/v1/lifelogs?limit=100&includeContents=false'],
		...NAMES.map((name) => `/v1/lifelogs?limit=100&speaker=${encodeURIComponent(name)}`),
		...['Anna', '"Anna Meier"', 'Bo Word1', 'word'].map((words) => `/v1/lifelogs?search=${words}`),
		...stored.map(({ id }) => `/v1/lifelogs/${id}`),
	];
	const all: string[] = [];
	for (const path of paths) all.push(await (await ask(server, path)).text());
	return all;
}

async function step(): Promise<[done: object, status: number, expected: number]> {
	const known = [...NAMES, ...model.people.flatMap(({ name, also }) => [name, ...also])];
	const person = random.datatype.boolean(0.05) ? pick(LABELS) : pick(known);
	const also = [...(model.find(person)?.also ?? [])];
	const kind = random.number.float();
	if (kind < 0.6) {
		const name = random.datatype.boolean(0.05) ? pick(LABELS) : pick([...known, ...also]);
		const merge = random.datatype.boolean();
		const body = { person, name, merge };
		return [body, (await client.change(body)).status, model.rename(person, name, merge)];
	}
	if (kind < 0.85) {
		const names = also.length > 0 ? random.helpers.arrayElements(also, { min: 1, max: 2 }) : ['x'];
		const body = { person, separate: names };
		return [body, (await client.change(body)).status, model.separate(person, names)];
	}
	const body = { person, isMe: random.datatype.boolean(0.7) };
	return [body, (await client.change(body)).status, model.setMe(person, body.isMe)];
}

/** Compares every way out with the model. */
async function compare(): Promise<void> {
	const shown = new Map(
		[...model.said].map(([id, lines]) => [id, lines.map((each) => model.shown(each))]),
	);
	const names = new Set([
		...model.people.map(({ name }) => name),
		...[...shown.values()].flat().flatMap(({ name }) => (isLabel(name) ? [] : name!)),
	]);
	const people = await client.people({ limit: '100' });
	const expected = [...names].map((name) => {
		const spoken = [...shown.values()].map((lines) => lines.filter((each) => each.name === name));
		const { also = new Set(), isMe = false } =
			model.people.find((each) => each.name === name) ?? {};
		return {
			...{ name, alsoCalled: [...also].sort(), isMe },
			lifelogs: spoken.filter((lines) => lines.length > 0).length,
			spokenMs: 2000 * spoken.flat().length,
		};
	});
	const sorted = <T extends { name: string }>(all: T[]) =>
		all.sort((a, b) => (a.name < b.name ? -1 : 1));
	expect(
		sorted(people).map(({ name, alsoCalled, isMe, lifelogs, spokenMs }) => ({
			...{ name, alsoCalled, isMe, lifelogs, spokenMs },
		})),
	).toEqual(sorted(expected));

	for (const contents of ['true', 'false']) {
		const found = await client.list({
			limit: contents === 'true' ? '25' : '100',
			includeContents: contents,
		});
		for (const lifelog of found) {
			const lines = shown.get(lifelog.id)!;
			const spoken = lines.map(({ name }, at) => ({
				speakerName: name,
				content: `Word${at} of ${lifelog.id}.`,
			}));
			expect(lifelog.markdown).toBe(markdownOf(lifelog.id, spoken));
			if (contents === 'false') continue;
			expect(linesOf(lifelog).map((node) => [node.speakerName, node.speakerIdentifier])).toEqual(
				lines.map(({ name, isUser }) => [name, isUser ? 'user' : null]),
			);
		}
	}
	const who = pick([...names]);
	const ofPerson = [...shown].filter(([, lines]) => lines.some(({ name }) => name === who));
	const ids = ofPerson.map(([id]) => id).sort();
	const anyName = pick([who, ...(model.find(who)?.also ?? [])]);
	expect(await client.ids({ speaker: anyName })).toEqual(ids);
	const listed = JSON.parse(await client.call('list_people', { search: who, sort: 'name' }));
	expect(listed.people.map(({ name }: Person) => name)).toContain(who);
	const [id] = ids;
	if (id === undefined) return;
	expect((await client.call('get_transcript', { id })).split('\n')).toEqual(
		shown
			.get(id)!
			.map(({ name }, at) => expect.stringContaining(`${name ?? 'Unknown'}: Word${at}`)),
	);
	if (!/\p{L}/u.test(anyName) || anyName.includes('"')) return;
	const found = await client.ids({ search: `"${anyName}"` });
	expect(found).toEqual(expect.arrayContaining(ids));
	const { lifelogs } = JSON.parse(
		await client.call('search_lifelogs', { query: `"${anyName}"`, speaker: who, limit: 100 }),
	) as { lifelogs: { id: string; snippet: string }[] };
	expect(lifelogs.map((each) => each.id).sort()).toEqual(ids);
	// The line is one of somebody who has or had the name.
	for (const { snippet: cut } of lifelogs) {
		const snippet = cut.replace(/^…/, '');
		const speakers = [...names].filter((name) => snippet.startsWith(`${name}: `.slice(0, 150)));
		const theirs = speakers.flatMap((name) => [name, ...model.find(name)!.also]);
		expect({ snippet, of: theirs.map(plain).join(' ') }).toEqual({
			snippet,
			of: expect.stringContaining(plain(anyName)),
		});
	}
}

const plain = (name: string) => name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Takes everything back that is in people.json. */
async function takeBack(): Promise<void> {
	for (const { name, also, isMe } of model.people) {
		const first = [name, ...also].find(model.isHeard)!;
		if (isMe) await client.change({ person: name, isMe: false });
		if (first !== name) await client.change({ person: name, name: first });
		const [{ alsoCalled }] = await client.people({ name: first });
		if (alsoCalled.length > 0) await client.change({ person: first, separate: alsoCalled });
	}
	model.people = [];
}

test(`random changes of people, and all of them taken back (seed ${seed})`, async () => {
	const before = await answers();
	const files = contentsOf(folder);
	for (let sequence = 0; sequence < size(6, 20); sequence += 1) {
		for (let steps = 0; steps < 12; steps += 1) {
			const [done, status, expected] = await step();
			expect({ done, status }).toEqual({ done, status: expected });
			if (steps % 3 === 2) await compare();
		}
		const { 'people.json': json, ...others } = contentsOf(folder);
		expect(others).toEqual(files);
		expect(JSON.parse(json).people).toHaveLength(model.people.length);
		expect(await findingsIn(folder)).toEqual([]);
		await takeBack();
		expect(JSON.parse(contentsOf(folder)['people.json']).people).toEqual([]);
		expect(await answers()).toEqual(before);
	}
});
