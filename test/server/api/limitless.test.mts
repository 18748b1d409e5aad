// After 2026: what lifelog-server archive says at Limitless's address.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeArchive } from '../../support/archive.mts';
import { startCommand } from '../../support/archiveCommand.mts';
import { startLimitless } from '../../support/limitless.mts';

const END =
	/Limitless promised support until the end of 2026\. If you archived your lifelogs, look/g;

let limitless: Awaited<ReturnType<typeof startLimitless>>;
let folder: string;

beforeAll(async () => {
	limitless = await startLimitless();
});

afterAll(() => limitless.close());

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'limitless-archive-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function archive(key: string, env: Record<string, string> = limitless.env) {
	const { status, stdout, stderr } = await startCommand(['archive', join(folder, 'archive')], {
		LIFELOG_API_KEY: key,
		...env,
	}).ended;
	return { status, said: `${stdout}${stderr}` };
}

test.each([
	'answer-401',
	'answer-403',
	'answer-404',
	'answer-410',
	'answer-redirect',
	'answer-html',
	'answer-html-404',
])('%s adds what Limitless promised, once', async (key) => {
	const { status, said } = await archive(key);
	expect([status, said.match(END)]).toEqual([2, [expect.any(String)]]);
});

test.each(['ENOTFOUND', 'ECONNREFUSED'] as const)(
	'%s adds what Limitless promised, once',
	async (code) => {
		const { status, said } = await archive('key', limitless.envWithout(code));
		expect(said).toContain(code);
		expect([status, said.match(END)]).toEqual([2, [expect.any(String)]]);
	},
);

test('answer-failing adds nothing', async () => {
	const { status, said } = await archive('answer-failing');
	expect([status, said.match(END)]).toEqual([2, null]);
	expect(said).toContain('the service returned 503');
});

test('an empty list adds what Limitless promised', async () => {
	const { status, said } = await archive('answer-empty');
	expect([status, said.match(END)]).toEqual([0, [expect.any(String)]]);
	expect(said).toContain('Complete: the service has no data.');
});

test('an empty list although the archive has lifelogs says so on the screen and in the report', async () => {
	const startTime = new Date(Date.now() - 5 * 86_400_000).toISOString();
	await writeArchive(join(folder, 'archive'), {
		lifelogs: [
			{
				id: 'a',
				title: 'A walk',
				contents: [],
				isStarred: false,
				startTime,
				endTime: startTime,
				updatedAt: startTime,
			},
		],
	});
	const { status, said } = await archive('answer-empty');
	expect(said).toContain("it's empty, but the archive has lifelogs");
	expect(said).toMatch(END);
	expect(status).toBe(1);
	expect(readFileSync(join(folder, 'archive', 'report.md'), 'utf8')).toMatch(END);
});
