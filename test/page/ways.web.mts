// From an empty archive to the first day, in a browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../server/sources.mts';
import { findings, usePages } from '../support/openPage.mts';
import { startSandbox, type TestSandbox } from '../support/sandbox.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription, type TranscriptionEndpoint } from '../support/transcription.mts';
import { writeZip } from '../support/zip.mts';

const DAY_MS = 86_400_000;
const SERVICE_KEY = 'sandbox-key';

let sandbox: TestSandbox;
let endpoint: TranscriptionEndpoint;
const { open, serve } = usePages();

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1, apiKey: SERVICE_KEY });
	endpoint = await startTranscription();
});
beforeEach(async () => {
	await sandbox.control.reset({ empty: true });
	await sandbox.control.faults([]);
	for (let ago = 6; ago > 0; ago -= 1) {
		const day = new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
		const startTime = `${day}T18:15:00.000Z`;
		const endTime = `${day}T18:15:30.000Z`;
		await sandbox.control.addLifelog({ title: `Walk ${ago}`, startTime, endTime });
	}
});
afterAll(async () => {
	await endpoint?.close();
	await sandbox?.close();
});

async function opens(args: string[] = []) {
	const server = await serve(temporaryFolder(), [
		...['--service-url', sandbox.url, '--timezone', 'Europe/Berlin', ...args],
	]);
	const opened = await open(server);
	await opened.page.goto('/');
	await opened.page.waitForSelector('.ways');
	return { ...opened, server };
}

/** Expects that axe-core finds nothing, that nothing is wider than the page, and that each control has its key. */
async function expectUsable(page: Page): Promise<void> {
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: 740 });
			const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
			expect([colorScheme, scroll, await findings(page)]).toEqual([colorScheme, width, []]);
		}
	}
	const keys = await page.evaluate(() =>
		Array.from(document.querySelectorAll('main :is(button, input, summary)'))
			.filter((each) => each.checkVisibility())
			.map((each) => each.getAttribute('aria-keyshortcuts') ?? each.outerHTML),
	);
	expect(keys.filter((key) => key.length > 1)).toEqual([]);
	expect(new Set(keys).size).toBe(keys.length);
}

const keyField = (page: Page) => page.locator('#service-key');

test('one pasted key and one click fill an empty archive, whose first day opens with another', async () => {
	const { page } = await opens();
	await expectUsable(page);
	await keyField(page).fill(SERVICE_KEY);
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.locator('.day[data-day]').first().waitFor();
	await page.waitForSelector('text=Everything up to yesterday is archived.');
	await page.waitForFunction(() => document.querySelectorAll('.day[data-day]').length === 6);
	const stored = await page.evaluate(() =>
		JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie]),
	);
	expect(stored).not.toContain(SERVICE_KEY);
	expect(await page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
	await page.locator('.day[data-day]').last().click();
	await page.waitForSelector('.entry');
	await page.goto('/status');
	await page.waitForSelector('.facts time');
	await expectUsable(page);
});

test('closing the page stops nothing, and another one stops it and goes on', async () => {
	// The second day and each later one take 20 seconds and more, longer than a look at the page.
	await sandbox.control.faults([
		{ path: '/v1/download-audio', skip: 20, times: 1_000_000, delayMs: 8_000 },
	]);
	const { page, context, server } = await opens();
	await keyField(page).fill(SERVICE_KEY);
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.waitForSelector('[role=status]');
	await context.close();
	const { page: other } = await open(server);
	await other.goto('/add');
	await other.getByText(/^[1-5] of 6 days/).waitFor();
	await expectUsable(other);
	await other.getByRole('button', { name: 'Stop' }).click();
	await other.getByText("It isn't complete yet.").waitFor();
	expect(await keyField(other).count()).toBe(0);
	await expectUsable(other);
	await sandbox.control.faults([]);
	await other.getByRole('button', { name: 'Continue' }).click();
	await other.getByText('Everything up to yesterday is archived.').waitFor();
	await expectUsable(other);
});

test('a wrong key is said, and the field for it stays', async () => {
	const { page } = await opens();
	await keyField(page).fill('another-key');
	await page.keyboard.press('Enter');
	await page.getByText('The service refuses the API key.').waitFor();
	expect(await keyField(page).inputValue()).toBe('');
	await expectUsable(page);
});

test("the app's export is imported, and what couldn't be read is listed", async () => {
	const zip = join(temporaryFolder(), 'data-export.zip');
	const content = '# Garden\n\n## Outside\n\n- Anna (1/30/26 5:23 PM): First the garden.\n';
	writeZip(zip, [
		{ name: 'lifelogs/2026/01/30/2026-01-30_17h23m00s_Garden.md', content },
		{ name: 'lifelogs/2026/01/31/<b>nothing</b>.md', content: 'no lifelog' },
		{ name: 'meetings/a.json', content: '{}' },
	]);
	const { page } = await opens();
	// The import has ended when the page looks next.
	await page.route('**/web/ways', async (route) => {
		await sleep(2_000);
		await route.continue();
	});
	const [chooser] = await Promise.all([
		page.waitForEvent('filechooser'),
		page.getByRole('button', { name: 'Choose the zip' }).click(),
	]);
	await chooser.setFiles(zip);
	await page.locator('.day[data-day="2026-01-30"]').waitFor();
	await page.getByText('The export is imported, except 1 file.').waitFor();
	await page.getByText('Show details').click();
	await page.getByText('Imported: 1 lifelog, 0 chats, 0 audio files.').waitFor();
	await page.getByText('lifelogs/2026/01/31/<b>nothing</b>.md').waitFor();
	await page.getByText('meetings/ (1 file)').waitFor();
	await expectUsable(page);
	await page.setInputFiles('input[accept*=zip]', {
		...{ name: 'a.zip', mimeType: 'application/zip' },
		buffer: readFileSync('package.json'),
	});
	await page.getByText("The file isn't a complete zip").waitFor();
});

test('a recording that is dropped becomes the first day', async () => {
	const path = join(temporaryFolder(), '20260301 090412.wav');
	await makeTones(path, { seconds: 3 });
	const { page } = await opens([
		...['--allow-changes', '--inbox', temporaryFolder()],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	const way = page.locator('.way', { hasText: 'A recording' });
	await way.getByText('Formats: m4a, mp3').waitFor();
	await way.getByText('also become lifelogs').waitFor();
	await way.getByText('whisper-1: not tested yet').waitFor();
	await expectUsable(page);
	await way.locator('input[type=file]').setInputFiles(path);
	await page.locator('.day[data-day="2026-03-01"]').waitFor();
});

test('the status asks the endpoints, and again on request', async () => {
	const { page } = await opens([
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	await page.goto('/status');
	await page.getByText('whisper-1: has no list of models (404)').waitFor();
	await expectUsable(page);
	const answer = page.waitForResponse('**/web/endpoints');
	await page.keyboard.press('e');
	expect((await answer).status()).toBe(200);
});
