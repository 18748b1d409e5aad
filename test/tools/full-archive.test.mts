// What a Code node of the example does by itself; test/n8n runs the whole.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { listedOf as listedOfCheck } from '../../server/check/layout.mts';
import { listedOf, updatedAtOf } from '../../server/archive/listed.mts';

interface Example {
	nodes: { name: string; parameters: { jsCode?: string } }[];
}

const { nodes } = JSON.parse(readFileSync('examples/full-archive.json', 'utf8')) as Example;

const PROGRAM = `
	const items = (list) => ({ all: () => list.map((json) => ({ json })), first: () => ({ json: list[0] }) });
	process.on('message', ({ code, input, others }) => {
		const $ = (name) => items(others[name] ?? []);
		try {
			process.send({ value: new Function('$', '$input', code)($, items(input)) });
		} catch ({ stack }) {
			process.send({ stack });
		}
	});
`;
/** In its zone, it is not what it is in UTC. */
const child = spawn(process.execPath, ['-e', PROGRAM], {
	env: { ...process.env, TZ: 'America/New_York' },
	stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
afterAll(async () => {
	child.disconnect();
	await once(child, 'exit');
});

/** Runs a Code node in another process. */
async function run<T>(name: string, input: object[], others: Record<string, object[]>): Promise<T> {
	const code = nodes.find((node) => node.name === name)?.parameters.jsCode;
	child.send({ code, input, others });
	const [{ value, stack }] = (await once(child, 'message')) as [{ value: T; stack?: string }];
	if (stack !== undefined) throw new Error(`${name} failed: ${stack}`);
	return value;
}

test.each([
	'2026-03-01T22:30:00',
	'2026-03-01 22:30:00.000',
	'2026-03-01T22:30:00Z',
	'2026-03-01T17:30:00-05:00',
])(
	'a chat of %s is stored under its UTC day, whatever the time zone of the machine',
	async (createdAt) => {
		const chats = [{ id: 'c', createdAt, messages: [] }];
		const [chat] = await run<[{ json: { path: string } }]>('Chats as files', chats, {
			'Its chats': [{ id: 'c', isScheduled: false }],
		});
		expect(chat.json.path).toBe('chats/2026/03/01/2026-03-01_22h30m00s_c.json');
		const [day] = await run<[{ json: object }]>('Days of the service', [], {
			Settings: [{ firstDay: '', waitDays: 1, daysBack: 0 }],
			'All chats': [{ id: 'c', createdAt, messageCount: 0 }],
		});
		expect(day.json).toMatchObject({ day: '2026-03-01', lines: 'chat c 0' });
	},
);

test('chats whose IDs differ only by case have names of their own, which stay', async () => {
	const named = async (ids: string[], chats: Record<string, object>) => {
		const files = await run<{ json: { id: string; path: string } }[]>(
			'Chats as files',
			ids.map((id) => ({ id, createdAt: '2026-03-01T22:30:00Z', messages: [] })),
			{ 'Its chats': ids.map((id) => ({ id })), 'Contents of the files': [{ chats }] },
		);
		return Object.fromEntries(files.map(({ json }) => [json.id, json.path.slice(-10)]));
	};
	const first = await named(['abc', 'ABC'], {});
	expect(first).toEqual({ abc: '0m00s_abc.json'.slice(-10), ABC: '_ABC-2.json'.slice(-10) });
	const at = 'chats/2026/03/01/2026-03-01_22h30m00s';
	const chats = {
		abc: { files: [{ path: `${at}_abc-2.json` }] },
		ABC: { files: [{ path: `${at}_ABC.json` }] },
	};
	expect(await named(['abc', 'aBc', 'ABC'], chats)).toEqual({
		abc: 'abc-2.json',
		aBc: 'aBc-3.json',
		ABC: '0m00s_ABC.json'.slice(-10),
	});
});

const sha256 = (text: unknown) => createHash('sha256').update(String(text)).digest('hex');

interface Day {
	day: string;
	what: string;
	listed: object;
}

/** What Full archive plans for lifelogs as the service lists them, and manifests as they were. */
async function planOf(lifelogs: object[], manifests: object[], changes: object = {}) {
	const settings = {
		Settings: [{ firstDay: '', waitDays: 1, daysBack: 0, report: {}, ...changes }],
	};
	const given = { ...settings, 'All lifelogs': lifelogs, 'Contents of the files': manifests };
	const days = await run<{ json: Record<string, unknown> }[]>('Days of the service', [], given);
	const hashed = days.map(({ json }) => ({
		...json,
		version: sha256(json.lines),
		versionIfIncomplete: sha256(json.linesIfIncomplete),
	}));
	const [{ json }] = await run<[{ json: { days: Day[]; report: object } }]>(
		'Days to do',
		hashed,
		given,
	);
	return { hashed, ...json };
}

test('title, end and a missing updatedAt are read as the command and check read them', async () => {
	const begin = Date.parse('2026-03-01T10:00:00Z');
	const time = fc
		.integer({ min: 0, max: 3_600_000 })
		.map((ms) => new Date(begin + ms).toISOString());
	const maybe = (arbitrary: fc.Arbitrary<string>) =>
		fc.oneof(arbitrary, fc.constantFrom(undefined, null, '', 'soon'));
	const lifelog = fc.record({
		title: maybe(fc.string({ unit: 'grapheme' })),
		startTime: time,
		endTime: maybe(time.map((iso) => iso.replace('Z', '+00:00'))),
		updatedAt: maybe(time),
	});
	const lifelogs = fc.sample(lifelog, 300).map((each, nth) => ({ id: `l${nth}`, ...each }));
	const { days, hashed } = await planOf(lifelogs, []);
	const [{ listed }] = days;
	expect(days.length).toBeGreaterThan(0);
	expect(listed).toEqual(Object.fromEntries(lifelogs.map((each) => [each.id, listedOf(each)])));
	expect(lifelogs.map(listedOfCheck)).toEqual(lifelogs.map(listedOf));
	const lines = lifelogs.map((each) => `lifelog ${each.id} ${updatedAtOf(each)} false`);
	expect(hashed[0]).toMatchObject({ lines: lines.sort().join('\n') });
});

describe('a day that is archived', () => {
	const day = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
	const old = '2026-03-01';
	const at = (of: string) => `${of}T10:00:00.000Z`;
	const listed = (of: string, more: object = {}) => ({
		...{ id: `l${of}`, title: 'Tea', startTime: at(of), endTime: at(of), updatedAt: at(of) },
		...more,
	});
	const manifest = (
		of: string,
		{ title = 'Tea', isAudioAlone = false }: { title?: string; isAudioAlone?: boolean } = {},
	) => ({
		day: of,
		version: sha256(`${isAudioAlone ? 'incomplete\n' : ''}lifelog l${of} ${at(of)} false`).slice(
			0,
			16,
		),
		...{ archivedAt: new Date().toISOString(), isComplete: true, isAudioKnown: true },
		...{ isAudioAlone, own: { lifelogs: {}, chats: {} }, hoursWithoutAudio: 0 },
		listed: title === '' ? {} : { [`l${of}`]: listedOf(listed(of, { title })) },
	});
	const whatFor = async (of: string, lifelog: object, before: object) =>
		(await planOf([lifelog], [before])).days.find(({ day: each }) => each === of)?.what;

	test.each<[string, string, object, object, string | undefined]>([
		['as it is', day, {}, {}, undefined],
		['with another title', day, {}, { title: 'Coffee' }, 'everything'],
		['without what a title is compared with', day, { title: 'Coffee' }, { title: '' }, undefined],
		['without updatedAt', day, { updatedAt: undefined }, {}, 'words'],
		['without some audio', day, {}, { isAudioAlone: true }, 'audio'],
		[
			'without audio, with another title',
			day,
			{ title: 'Coffee' },
			{ isAudioAlone: true },
			'everything',
		],
		['long ago, without updatedAt', old, { updatedAt: undefined }, {}, undefined],
	])('%s', async (_what, of, lifelog, before, what) => {
		expect(await whatFor(of, listed(of, lifelog), manifest(of, before))).toBe(what);
	});
});

test('a nightly run says so if earlier days were never archived', async () => {
	const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
	const startTime = `${ago(31)}T10:00:00.000Z`;
	const lifelog = { id: 'l', title: 'Tea', startTime, endTime: startTime, updatedAt: startTime };
	const { days, report } = await planOf([lifelog], [], { firstDay: ago(33), daysBack: 31 });
	expect(days[0].day).toBe(ago(31));
	const message = `2 days, ${ago(33)} to ${ago(32)}, are not archived yet; the next run over everything does it`;
	expect(report).toMatchObject({ failed: [{ message }] });
});
