// What a Code node of the example does by itself; test/n8n runs the whole.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Example {
	nodes: { name: string; parameters: { jsCode?: string } }[];
}

const { nodes } = JSON.parse(readFileSync('examples/full-archive.json', 'utf8')) as Example;

/** Runs a Code node in a process in whose zone it is not what it is in UTC. */
function run(name: string, input: object[], others: Record<string, object[]>): unknown {
	const program = `
		const { code, input, others } = JSON.parse(process.argv[1]);
		const items = (list) => ({ all: () => list.map((json) => ({ json })), first: () => ({ json: list[0] }) });
		const $ = (name) => items(others[name] ?? []);
		console.log(JSON.stringify(new Function('$', '$input', code)($, items(input))));
	`;
	const code = nodes.find((node) => node.name === name)?.parameters.jsCode;
	const given = JSON.stringify({ code, input, others });
	const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, given], {
		encoding: 'utf8',
		env: { ...process.env, TZ: 'America/New_York' },
	});
	if (!stdout) throw new Error(stderr);
	return JSON.parse(stdout);
}

test.each([
	'2026-03-01T22:30:00',
	'2026-03-01 22:30:00.000',
	'2026-03-01T22:30:00Z',
	'2026-03-01T17:30:00-05:00',
])(
	'a chat of %s is stored under its UTC day, whatever the time zone of the machine',
	(createdAt) => {
		const [chat] = run('Chats as files', [{ id: 'c', createdAt, messages: [] }], {
			'Its chats': [{ id: 'c', isScheduled: false }],
		}) as [{ json: { path: string } }];
		expect(chat.json.path).toBe('chats/2026/03/01/2026-03-01_22h30m00s_c.json');
		const [day] = run('Days of the service', [], {
			Settings: [{ firstDay: '', waitDays: 1, daysBack: 0 }],
			'All chats': [{ id: 'c', createdAt, messageCount: 0 }],
		}) as [{ json: object }];
		expect(day.json).toMatchObject({ day: '2026-03-01', lines: 'chat c 0' });
	},
);

test('chats whose IDs differ only by case have names of their own, which stay', () => {
	const named = (ids: string[], chats: Record<string, object>) => {
		const files = run(
			'Chats as files',
			ids.map((id) => ({ id, createdAt: '2026-03-01T22:30:00Z', messages: [] })),
			{ 'Its chats': ids.map((id) => ({ id })), 'Contents of the files': [{ chats }] },
		) as { json: { id: string; path: string } }[];
		return Object.fromEntries(files.map(({ json }) => [json.id, json.path.slice(-10)]));
	};
	const first = named(['abc', 'ABC'], {});
	expect(first).toEqual({ abc: '0m00s_abc.json'.slice(-10), ABC: '_ABC-2.json'.slice(-10) });
	const at = 'chats/2026/03/01/2026-03-01_22h30m00s';
	const chats = {
		abc: { files: [{ path: `${at}_abc-2.json` }] },
		ABC: { files: [{ path: `${at}_ABC.json` }] },
	};
	expect(named(['abc', 'aBc', 'ABC'], chats)).toEqual({
		abc: 'abc-2.json',
		aBc: 'aBc-3.json',
		ABC: '0m00s_ABC.json'.slice(-10),
	});
});
