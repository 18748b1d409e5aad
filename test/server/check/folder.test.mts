// An archive that is broken in every way, and what the check says of it.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	appendFile,
	chmod,
	mkdir,
	mkdtemp,
	readFile,
	rename,
	rm,
	symlink,
	unlink,
	writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkArchive, type Progress, type Summary } from '../../../server/check/check.mts';
import type { Finding } from '../../../server/check/findings.mts';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { store, versionOfLines, writeDay, type DayContents } from '../../support/archive.mts';
import { posixTest } from '../../support/platform.mts';

const HOUR_MS = 3_600_000;
const DAY = '2026-03-01';
const MIDNIGHT = Date.parse(DAY);
const OGG = Buffer.from('OggS, and so on');

const lifelog = (id: string, time: string, more: Partial<Lifelog> = {}): Lifelog => ({
	...{ id, title: `Of ${id}`, markdown: null, contents: [] },
	...{ startTime: `${time}.250Z`, endTime: `${time}.900Z`, isStarred: false },
	...{ updatedAt: '2026-03-01T09:02:11Z', ...more },
});
const chat = (id: string, createdAt: string): Chat => ({
	...{ id, summary: null, createdAt, startedAt: createdAt, visibility: 'private' as const },
	messages: [
		{ id: '1', text: 'Hi', createdAt, user: { role: 'user', name: null } },
		{ id: '2', text: 'Hello', createdAt, user: { role: 'assistant', name: null } },
	],
});

const FIRST: DayContents = {
	day: DAY,
	lifelogs: [lifelog('a1', `${DAY}T08:00:00`), lifelog('b-2_', `${DAY}T23:59:59`)],
	chats: [chat('c3', `${DAY}T20:30:00.000Z`)],
	audio: [8, 22].map((hour) => ({
		startMs: MIDNIGHT + hour * HOUR_MS,
		endMs: MIDNIGHT + (hour + 2) * HOUR_MS,
		content: OGG,
	})),
};
const A1 = `lifelogs/2026/03/01/${DAY}_08h00m00s_a1`;
const C3 = `chats/2026/03/01/${DAY}_20h30m00s_c3.json`;
const AUDIO = 'audio/pendant/2026/03/01/audio_20260301T080000Z_20260301T100000Z.ogg';

const quiet: Progress = { days: () => {}, read: () => {}, wait: () => {} };

let root: string;
let dayPath: string;

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'archive-'));
	dayPath = await writeDay(root, FIRST);
	await writeDay(root, { day: '2026-03-04', lifelogs: [lifelog('d4', '2026-03-04T10:00:00')] });
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

async function check(): Promise<Summary & { findings: Finding[] }> {
	const findings: Finding[] = [];
	const report = (finding: Finding) => void findings.push(finding);
	const summary = await checkArchive({ folder: root, until: '2026-12-31' }, report, quiet);
	return { ...summary, findings };
}

/** Says anew what a day holds, after a change of that; its name keeps its version. */
async function rewriteDay(change: (day: Record<string, never>) => void): Promise<void> {
	const day = JSON.parse(await readFile(join(root, dayPath), 'utf8'));
	change(day);
	await writeFile(join(root, dayPath), JSON.stringify(day));
}

/** The findings, each as a line. */
const lines = ({ findings }: { findings: Finding[] }) =>
	findings.map(({ kind, path, id, message }) => `${kind}: ${path ?? id ?? ''} ${message}`);

test('a complete archive has no findings, even if other files are in the folder', async () => {
	await store(root, 'report.json', '{}');
	await store(root, '.lifelog-index.sqlite', 'x');
	await store(root, 'lifelogs/2026/03/01/.DS_Store', 'x');
	await store(root, 'notes/mine.txt', 'x');
	expect(await check()).toEqual({
		...{ days: 2, firstDay: DAY, lastDay: '2026-03-04', lifelogs: 3, chats: 1, audioFiles: 2 },
		daysWithoutFile: ['2026-03-02', '2026-03-03'],
		...{ rightFiles: 9, rightBytes: expect.any(Number), counts: expect.anything() },
		...{ isComplete: true, findings: [] },
	});
});

const BROKEN: Array<[string, () => Promise<unknown>, string[]]> = [
	[
		'a file is gone',
		async () => await unlink(join(root, `${A1}.md`)),
		[`missing: ${A1}.md is not there`],
	],
	[
		'a file has grown',
		async () => await appendFile(join(root, AUDIO), '!'),
		[`broken: ${AUDIO} has 16 bytes, but its day manifest says 15`],
	],
	[
		'a file is empty',
		async () => await writeFile(join(root, `${A1}.json`), ''),
		[expect.stringContaining(`broken: ${A1}.json has 0 bytes`)],
	],
	[
		'one bit of a file is another',
		async () => await writeFile(join(root, AUDIO), 'OggS, and so oo'),
		[`broken: ${AUDIO} has a different SHA-256 than its day manifest says`],
	],
	[
		'a folder is where a file should be',
		async () => {
			await unlink(join(root, AUDIO));
			await mkdir(join(root, AUDIO));
		},
		[`broken: ${AUDIO} isn't a file`],
	],
	[
		'a file is a link that leads out',
		async () => {
			await unlink(join(root, C3));
			await symlink(process.execPath, join(root, C3));
		},
		[`broken: ${C3} is a link that leads out of the archive`],
	],
	[
		'a folder is a link that leads out',
		async () => {
			await rename(join(root, 'chats'), `${root}-chats`);
			await symlink(`${root}-chats`, join(root, 'chats'));
		},
		[`broken: ${C3} is a link that leads out of the archive`],
	],
	[
		'files that no day names',
		async () => {
			await store(root, `lifelogs/2026/03/01/${DAY}_08h00m00s_a1.srt`, 'x');
			await store(root, 'audio/mobile/2026/03/01/more.ogg', 'x');
			await store(root, 'chats/elsewhere.json', 'x');
			await store(root, 'days/notes.txt', 'x');
		},
		[
			"left over: days/notes.txt isn't a day manifest: its name is not one",
			`left over: ${A1}.srt isn't named by a day manifest`,
			"left over: audio/mobile/2026/03/01/more.ogg isn't named by a day manifest",
			"left over: chats/elsewhere.json isn't in the folder of a day",
		],
	],
	[
		'a day that was not finished',
		async () => await store(root, 'audio/pendant/2026/03/02/audio_x.ogg', 'x'),
		[
			"left over: audio/pendant/2026/03/02/audio_x.ogg isn't named by a day manifest",
			"incomplete:  isn't finished: it has no valid day manifest, but its folders have 1 file",
		],
	],
	[
		'the day manifest is empty',
		async () => await writeFile(join(root, dayPath), ''),
		[
			expect.stringMatching(/^broken: days\/2026-03-01_\w+\.json is empty, so it is ignored/),
			...Array.from({ length: 7 }, () =>
				expect.stringMatching(/^left over: .*named by a day manifest/),
			),
			expect.stringContaining('its folders have 7 files'),
		],
	],
	[
		'the day manifest breaks off',
		async () => {
			const text = await readFile(join(root, dayPath), 'utf8');
			await writeFile(join(root, dayPath), text.slice(0, -10));
			await rm(join(root, 'lifelogs/2026/03/01'), { recursive: true });
			await rm(join(root, 'chats'), { recursive: true });
			await rm(join(root, 'audio'), { recursive: true });
		},
		[expect.stringContaining("isn't JSON, so it is ignored")],
	],
	[
		'the day manifest says something else than its name',
		async () => {
			await rename(join(root, dayPath), join(root, `days/${DAY}_0123456789abcdef.json`));
			await rm(join(root, 'lifelogs/2026/03/01'), { recursive: true });
			await rm(join(root, 'chats'), { recursive: true });
			await rm(join(root, 'audio'), { recursive: true });
		},
		[
			expect.stringMatching(
				/^broken: days\/2026-03-01_0123456789abcdef.json has the fingerprint \w{16}, not the one in its name/,
			),
		],
	],
	[
		'a day that is not complete, and says why',
		async () => {
			await unlink(join(root, dayPath));
			const failed = [{ what: 'audio 08:00 to 10:00', message: 'The service answers 504' }];
			await writeDay(root, { ...FIRST, over: { failed, isComplete: false } });
		},
		['incomplete:  audio 08:00 to 10:00: The service answers 504'],
	],
	[
		'a lifelog without its JSON',
		async () =>
			await rewriteDay(({ lifelogs: { a1 } }: Record<string, Record<string, { files: [] }>>) => {
				a1.files.splice(0, 1);
			}),
		[
			'missing: a1 has no .json file that its day manifest names',
			`left over: ${A1}.json isn't named by a day manifest`,
		],
	],
	[
		'a path that leads out',
		async () =>
			await rewriteDay(({ audio }: Record<string, Array<{ path: string }>>) => {
				audio[0].path = 'audio/pendant/2026/03/01/../../../../../../etc/hostname';
			}),
		[
			"broken: audio/pendant/2026/03/01/../../../../../../etc/hostname isn't a path inside the archive",
			`left over: ${AUDIO} isn't named by a day manifest`,
		],
	],
	[
		'a path in the folder of another day',
		async () =>
			await rewriteDay(({ audio }: Record<string, Array<{ path: string }>>) => {
				audio[0].path = AUDIO.replace('03/01', '03/04');
			}),
		[
			`broken: ${AUDIO.replace('03/01', '03/04')} isn't where the audio of that day is`,
			`left over: ${AUDIO} isn't named by a day manifest`,
		],
	],
	[
		'audio of a time that no calendar has',
		async () =>
			await rewriteDay(({ audio }: Record<string, Array<{ startMs: number; endMs: number }>>) => {
				audio[0].endMs = 8.64e15 + 1;
				Object.assign(audio[1], { startMs: 9e15, endMs: 9e15 + 1 });
			}),
		[
			`broken: ${AUDIO} has an impossible time`,
			expect.stringMatching(/T220000Z_20260302T000000Z.ogg has an impossible time$/),
		],
	],
	[
		'the path of another lifelog',
		async () =>
			await rewriteDay(({ lifelogs }: Record<string, Record<string, { files: [] }>>) => {
				lifelogs.a1.files = lifelogs['b-2_'].files;
			}),
		expect.arrayContaining([
			`broken: lifelogs/2026/03/01/${DAY}_23h59m59s_b-2_.json is listed twice in its day manifest`,
			`broken: lifelogs/2026/03/01/${DAY}_23h59m59s_b-2_.json isn't where the files of a1 on that day are`,
		]),
	],
	[
		'audio that is there twice, and audio that is there and missing',
		async () =>
			await rewriteDay((day: Record<string, Array<{ startMs: number; endMs: number }>>) => {
				day.audio[1].startMs = day.audio[0].startMs + HOUR_MS;
				day.missingAudio.push({ startMs: MIDNIGHT, endMs: MIDNIGHT + 8.5 * HOUR_MS });
			}),
		[
			`broken: ${AUDIO} overlaps with a range without audio`,
			expect.stringMatching(/T220000Z_20260302T000000Z.ogg overlaps with .*T080000Z/),
		],
	],
];

test.each(BROKEN)('%s', async (_what, breakIt, expected) => {
	await breakIt();
	const found = await check();
	const sorted = Array.isArray(expected) ? expected : undefined;
	expect(lines(found)).toEqual(expected);
	expect(found.isComplete).toBe(false);
	const counted = Object.values(found.counts).reduce((a, b) => a + b);
	expect(counted).toBe(sorted?.length ?? found.findings.length);
	for (const { kind, day, path } of found.findings) {
		if (kind !== 'left over' || /\d{4}\/\d\d\/\d\d/.test(path!)) {
			expect(day).toMatch(/^2026-03-0[12]$/);
		}
	}
});

/** What a lifelog's JSON says, with a size and checksum that fit it. */
const CONTRADICTIONS: Array<[string, object | string, string]> = [
	['no JSON', 'What?', "isn't JSON"],
	['another ID', { id: 'z' }, "doesn't contain a1, but its day manifest says so"],
	['no time', { startTime: 'now' }, 'does not say when it begins'],
	[
		'another second',
		{ startTime: `${DAY}T08:00:01Z` },
		`belongs to ${A1.replace('m00s', 'm01s')}.json by its contents`,
	],
	[
		'another day, by a zone',
		{ startTime: `${DAY}T00:30:00+01:00` },
		'belongs to lifelogs/2026/02/28/2026-02-28_23h30m00s_a1.json by its contents',
	],
	['the same second, by a zone', { startTime: `${DAY}T09:00:00.999+01:00` }, ''],
	[
		'another change',
		{ updatedAt: '2026-03-02T00:00:00Z' },
		'was updated at 2026-03-02T00:00:00Z, but its day manifest says 2026-03-01T09:02:11.000Z',
	],
	['a star', { isStarred: true }, 'has a star, unlike in its day manifest'],
];

test.each(CONTRADICTIONS)('a lifelog whose JSON has %s', async (_what, change, problem) => {
	const content =
		typeof change === 'string' ? change : JSON.stringify({ ...FIRST.lifelogs![0], ...change });
	const file = await store(root, `${A1}.json`, content);
	await rewriteDay(({ lifelogs: { a1 } }: Record<string, Record<string, { files: object[] }>>) => {
		a1.files[0] = file;
	});
	expect(lines(await check())).toEqual(problem === '' ? [] : [`broken: ${A1}.json ${problem}`]);
});

test('a chat with other messages than its day manifest says', async () => {
	const file = await store(root, C3, JSON.stringify({ ...FIRST.chats![0], messages: [] }));
	await rewriteDay(({ chats: { c3 } }: Record<string, Record<string, { files: object[] }>>) => {
		c3.files[0] = file;
	});
	expect(lines(await check())).toEqual([
		`broken: ${C3} has 0 messages, but its day manifest says 2`,
	]);
});

test("a file that isn't audio, or audio that begins on another day", async () => {
	const file = await store(root, AUDIO, 'RIFF');
	await rewriteDay((day: Record<string, object[]>) => {
		day.audio[0] = { ...day.audio[0], ...file };
		day.audio[1] = { ...day.audio[1], startMs: MIDNIGHT - 1 };
	});
	expect(lines(await check())).toEqual([
		`broken: ${AUDIO} isn't an Ogg file`,
		expect.stringContaining('T220000Z_20260302T000000Z.ogg begins on 2026-02-28'),
		expect.stringContaining('overlaps'),
	]);
});

posixTest("a file that can't be read", async () => {
	await chmod(join(root, AUDIO), 0);
	const isRoot = process.getuid?.() === 0;
	// Nothing is forbidden to root.
	const expected = isRoot ? [] : [`broken: ${AUDIO} cannot be read (EACCES)`];
	expect(lines(await check())).toEqual(expected);
});

describe('of several day manifests', () => {
	const late = { ...FIRST, lifelogs: [...FIRST.lifelogs!, lifelog('e5', `${DAY}T12:00:00`)] };

	test('the one with the latest archivedAt counts', async () => {
		await writeDay(root, { ...late, over: { archivedAt: '2026-04-02T00:00:00.000Z' } });
		expect(await check()).toMatchObject({ days: 2, lifelogs: 4, findings: [] });
	});

	test('a file that only an older one names is left over', async () => {
		await writeDay(root, { ...late, over: { archivedAt: '2026-03-31T00:00:00.000Z' } });
		const e5 = `lifelogs/2026/03/01/${DAY}_12h00m00s_e5`;
		const found = await check();
		expect(lines(found).sort()).toEqual([
			`left over: ${e5}.json isn't named by a day manifest`,
			`left over: ${e5}.md isn't named by a day manifest`,
		]);
	});

	test('reports a broken manifest and uses the one before it', async () => {
		await store(root, `days/${DAY}_ffffffffffffffff.json`, '{"version":1');
		const found = await check();
		expect(lines(found)).toEqual([
			`broken: days/${DAY}_ffffffffffffffff.json isn't JSON, so it is ignored`,
		]);
		expect(found.days).toBe(2);
	});

	test('one with a later layout version is reported', async () => {
		await store(root, `days/${DAY}_ffffffffffffffff.json`, '{"version":2}');
		expect(lines(await check())[0]).toContain('has layout version 2');
	});

	test('reports the missing field of a manifest', async () => {
		await store(root, `days/${DAY}_ffffffffffffffff.json`, `{"version":1,"day":"${DAY}"}`);
		expect(lines(await check())[0]).toContain("must have required property 'lifelogs'");
	});
});

test('keeps entries that the service removed, and leaves them out of the fingerprint', async () => {
	await rm(root, { recursive: true });
	const path = await writeDay(root, FIRST);
	const day = JSON.parse(await readFile(join(root, path), 'utf8'));
	day.lifelogs.a1.goneAt = '2026-05-01T00:00:00.000Z';
	await unlink(join(root, path));
	const version = versionOfLines(['lifelog b-2_ 2026-03-01T09:02:11.000Z false', 'chat c3 2']);
	await store(root, `days/${DAY}_${version}.json`, JSON.stringify(day));
	expect(lines(await check())).toEqual([]);
	await unlink(join(root, `${A1}.json`));
	expect(lines(await check())).toEqual([`missing: ${A1}.json is not there`]);
});

test("an ID that can't be a file name, and a day with only audio", async () => {
	const odd = lifelog('a/ü 1', '2026-03-05T00:00:00');
	const path = 'lifelogs/2026/03/05/2026-03-05_00h00m00s_a%2F%C3%BC%201';
	const updatedAt = '2026-03-01T09:02:11.000Z';
	const files = [
		await store(root, `${path}.json`, JSON.stringify(odd)),
		await store(root, `${path}.md`, '# Odd\n'),
	];
	const [audio] = FIRST.audio!;
	const day = {
		...JSON.parse(await readFile(join(root, dayPath), 'utf8')),
		...{ day: '2026-03-05', chats: {}, audio: [] },
		lifelogs: { [odd.id]: { updatedAt, isStarred: false, files } },
	};
	const version = versionOfLines([`lifelog ${odd.id} ${updatedAt} false`]);
	await store(root, `days/2026-03-05_${version}.json`, JSON.stringify(day));
	const shifted = {
		...audio,
		startMs: Date.parse('2026-03-06'),
		endMs: Date.parse('2026-03-06T02:00Z'),
	};
	const alone = await writeDay(root, { day: '2026-03-06', audio: [shifted] });
	expect(alone).toBe('days/2026-03-06_e3b0c44298fc1c14.json');
	expect(lines(await check())).toEqual([]);
});

describe('IDs that differ only by case', () => {
	const NIGHT = '2026-03-07';
	const placeOf = (name: string) => `lifelogs/2026/03/07/${NIGHT}_10h00m00s_${name}`;

	/** A day whose lifelogs, by ID, are in files of these names. */
	async function writeNames(names: Record<string, string>): Promise<void> {
		const lifelogs: Record<string, object> = {};
		for (const [id, name] of Object.entries(names)) {
			const json = JSON.stringify(lifelog(id, `${NIGHT}T10:00:00`));
			const files = [
				await store(root, `${placeOf(name)}.json`, json),
				await store(root, `${placeOf(name)}.md`, '# A\n'),
			];
			lifelogs[id] = { updatedAt: '2026-03-01T09:02:11.000Z', isStarred: false, files };
		}
		const fingerprint = versionOfLines(
			Object.keys(names).map((id) => `lifelog ${id} 2026-03-01T09:02:11.000Z false`),
		);
		const day = JSON.parse(await readFile(join(root, dayPath), 'utf8'));
		const whole = { ...day, day: NIGHT, lifelogs, chats: {}, audio: [] };
		await store(root, `days/${NIGHT}_${fingerprint}.json`, JSON.stringify(whole));
	}

	const long = (letter: string) => letter.repeat(240);
	const shortened = (letter: string) =>
		letter.repeat(180) + createHash('sha256').update(long(letter)).digest('hex').slice(0, 16);

	test.each<[string, Record<string, string>]>([
		['two', { aB: 'aB', ab: 'ab-2' }],
		['three', { AB: 'AB', aB: 'aB-2', ab: 'ab-3' }],
		['one whose ID looks like a counter', { 'ab-2': 'ab-2', AB: 'AB-3', ab: 'ab' }],
		['long ones', { [long('x')]: shortened('x'), [long('X')]: shortened('X') }],
	])('have distinct names: %s', async (_what, names) => {
		await writeNames(names);
		expect(lines(await check())).toEqual([]);
	});

	test.each<[string, Record<string, string>, string]>([
		['without a counter', { aB: 'aB', ab: 'ab' }, 'differs from'],
		['with one that nothing needs', { ab: 'ab-2' }, "isn't where the files of ab on that day are"],
		['too high a one', { aB: 'aB', ab: 'ab-3' }, "isn't where the files of ab on that day are"],
		['the name of another', { ab: 'ab-2', xy: 'xy' }, "isn't where the files of ab"],
	])('are found %s', async (_what, names, problem) => {
		await writeNames(names);
		const found = lines(await check());
		expect(found.length).toBeGreaterThan(0);
		for (const line of found) expect(line).toContain(problem);
	});
});

describe('the command', () => {
	const run = promisify(execFile);
	const command = async (...args: string[]) => {
		const env = { ...process.env, LIFELOG_API_KEY: '', LIFELOG_BASE_URL: '' };
		const all = ['server/lifelog-server.cjs', 'check', ...args];
		return await run(process.execPath, all, { env }).then(
			({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
			(error: unknown) => error as { code: number; stdout: string; stderr: string },
		);
	};

	test('says that the archive is complete, with exit code 0', async () => {
		const { code, stdout, stderr } = await command(root);
		expect(code).toBe(0);
		expect(stderr).toBe('');
		expect(stdout.split('\n')).toEqual([
			'2 days, 2026-03-01 to 2026-03-04: 3 lifelogs, 1 chat, 2 audio files.',
			'2 days in between without a day manifest: 2026-03-02 to 2026-03-03.',
			expect.stringMatching(/^9 files \(\d kB\) are unchanged\.$/),
			'Not compared with the service (--service does that).',
			'The archive is complete.',
			'',
		]);
	});

	test('lists the days without a manifest, for several ranges and for none', async () => {
		await writeDay(root, { day: '2026-03-06' });
		const first = await command(root);
		expect(first.stdout).toContain(
			'3 days in between without a day manifest: 2026-03-02 to 2026-03-03, 2026-03-05.\n',
		);
		for (const day of ['2026-03-02', '2026-03-03', '2026-03-05']) await writeDay(root, { day });
		expect((await command(root)).stdout).not.toContain('in between');
	});

	test('lists the findings with exit code 1, sanitized for display', async () => {
		await unlink(join(root, AUDIO));
		await store(root, 'chats/\u001b[2J\n\u202e.json', 'x');
		const { code, stdout } = await command(root);
		expect(code).toBe(1);
		expect(stdout).toContain(`missing     2026-03-01  ${AUDIO} is not there\n`);
		expect(stdout).toContain("left over               chats/\ufffd[2J\ufffd\ufffd.json isn't in");
		expect(stdout).toContain('The archive is not complete: 1 missing, 1 left over.\n');
	});

	test('returns a report as JSON', async () => {
		await unlink(join(root, AUDIO));
		const { code, stdout } = await command('--json', root);
		expect(code).toBe(1);
		expect(JSON.parse(stdout)).toMatchObject({
			isComplete: false,
			daysWithoutFile: ['2026-03-02', '2026-03-03'],
			counts: { missing: 1, broken: 0 },
			findings: [{ kind: 'missing', day: DAY, path: AUDIO, message: 'is not there' }],
		});
	});

	test.each([
		['no folder', async () => [join(root, 'none')], /^There is no folder "\/.*none"\.$/m],
		['a file', async () => [join(root, dayPath)], /json" isn't a folder\.$/m],
		[
			'another folder',
			async () => [join(root, 'days')],
			/isn't an archive: it has no folder days\/.* npm run server -- import "\/.*days" </,
		],
		[
			'an archive without a day',
			async () => {
				await rm(join(root, 'days'), { recursive: true });
				await mkdir(join(root, 'days'));
				return [root];
			},
			/no day was finished/,
		],
		[
			'days elsewhere',
			async () => {
				await rename(join(root, 'days'), `${root}-days`);
				await symlink(`${root}-days`, join(root, 'days'));
				return [root];
			},
			/isn't an archive/,
		],
		['two folders', async () => [root, root], /^Unknown argument '/m],
		['an unknown option', async () => [root, '--all'], /Unknown option '--all'/],
		['no day', async () => [root, '--until', '2026-02-30'], /--until must be a day such as/],
	])('says why it does not check: %s', async (_what, args, message) => {
		const { code, stdout, stderr } = await command(...(await args()));
		expect(code).toBe(2);
		expect(stdout).toBe('');
		expect(stderr).toMatch(message);
		expect(stderr).not.toMatch(/^ {4}at /m);
	});

	test('has a help', async () => {
		const { code, stdout } = await command('--help');
		expect(code).toBe(0);
		expect(stdout).toContain('Exit code: 0 nothing found');
	});
});

test.each([
	['{"version":1,"people":[{"name":"Anna","alsoCalled":["Anna M."],"isMe":true}]}', []],
	['{"people":[]}', []],
	['{"people":', ["isn't a list of people: must be object, so it is ignored"]],
	['{"version":2,"people":[]}', ["isn't a list of people: version must be equal to constant"]],
	['{"people":[{"name":7}]}', ["isn't a list of people: people/0/name must be string"]],
	['{"people":[{"name":"Anna"},{"name":"Bo","alsoCalled":["Anna"]}]}', ['has a name twice']],
	['{"people":[{"name":"SPEAKER_00 (2)"}]}', ['names a person by a label']],
	['{"people":[{"name":"Anna","alsoCalled":["unknown"]}]}', ['names a person by a label']],
	['{"people":[{"name":"Speaker\u00a0３\u200b"}]}', ['names a person by a label']],
	['{"people":[{"name":"-1"}]}', []],
	['\ufeff{"people":[{"name":"Anna"}]}', []],
	[Buffer.from('{"people":[{"name":"J\xfcrgen"}]}', 'latin1'), ["isn't UTF-8"]],
	[
		'{"people":[{"name":"Anna","isMe":true},{"name":"Bo","isMe":true}]}',
		['has two people who are the wearer'],
	],
])('people.json with %s', async (json, problems) => {
	await writeFile(join(root, 'people.json'), json);
	expect(lines(await check())).toEqual(
		problems.map((problem) => expect.stringContaining(`broken: people.json ${problem}`)),
	);
});

const replacement = {
	...{ id: 'r1', heard: 'a', right: 'b', createdAt: '2026-03-01T00:00:00.000Z' },
	...{ lifelogs: 1, lines: 2, isDone: true },
};
test.each<[object, string[]]>([
	[{ version: 1, replacements: [replacement] }, []],
	[{ replacements: [] }, []],
	[{ version: 2, replacements: [] }, ["isn't a list of replacements: version must be"]],
	[{ replacements: [{ ...replacement, isDone: 1 }] }, ['isDone must be boolean']],
	[{ replacements: [replacement, replacement] }, ['has an ID twice']],
])('replacements.json with %j', async (file, problems) => {
	await writeFile(join(root, 'replacements.json'), JSON.stringify(file));
	const found = lines(await check());
	expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
	for (const each of found) expect(each).toContain('broken: replacements.json');
});

const corrected = { startOffsetMs: 0, was: 'a' };
test.each<[object[], string]>([
	[[{ ...corrected, text: 'b', speaker: 'Anna', typed: 'c', replaced: [replacement] }], ''],
	[[corrected], ''],
	[[{ was: 'a' }], "must have required property 'startOffsetMs'"],
	[[{ startOffsetMs: 0 }], "must have required property 'was'"],
	[[{ ...corrected, text: 7 }], 'text must be string'],
	[[{ ...corrected, replaced: [{ id: 'r1' }] }], "must have required property 'heard'"],
])('corrected lines: %j', async (edits, problem) => {
	await rewriteDay(({ lifelogs: { a1 } }: Record<string, Record<string, object>>) => {
		Object.assign(a1, { edited: { lines: edits, at: '2026-04-01T00:00:00.000Z' } });
	});
	const found = lines(await check());
	if (problem === '') expect(found).toEqual([]);
	else expect(found[0]).toEqual(expect.stringContaining(problem));
});
