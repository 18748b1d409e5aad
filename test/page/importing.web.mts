// An export that is uploaded on the page, and what may happen meanwhile.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { ask, temporaryFolder } from '../server/sources.mts';
import { mayMount } from '../support/mount.mts';
import { usePages } from '../support/openPage.mts';
import { until } from '../support/soon.mts';
import { writeZip } from '../support/zip.mts';

const { open, serve } = usePages();

/** Bytes of an export, and how many of them a slow connection sends in a second. */
const LARGE = 60e6;
const SLOW = 1e6;
/** Bytes that are free on a disk until it's full: more than arrive while its size is changed. */
const LITTLE = 10e6;

/** An export of one lifelog, of an hour, and of as many bytes as are given. */
function exportOf(hour: number, bytes = 0): string {
	const zip = join(temporaryFolder(), 'data-export.zip');
	const content = `# Garden\n\n## Outside\n\n- Anna (1/30/26 5:23 PM): First the garden.\n`;
	writeZip(zip, [
		{ name: `lifelogs/2026/01/30/2026-01-30_${hour}h23m00s_Garden.md`, content },
		{ name: 'photos/a.jpg', content: randomBytes(bytes) },
	]);
	return zip;
}

async function opens(folder = temporaryFolder()) {
	const server = await serve(folder, ['--timezone', 'Europe/Berlin']);
	return { server, ...(await opensWays(server)) };
}

/** Opens the page on which an export can be chosen. */
async function opensWays(server: { url: string }) {
	const opened = await open(server);
	await opened.page.goto('/add');
	await field(opened.page).waitFor({ state: 'attached' });
	return opened;
}

const field = (page: Page) => page.locator('input[accept*=zip]');
const choose = (page: Page, zip: string) => field(page).setInputFiles(zip);
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Has the page upload slowly, until the returned function is called. */
async function slowDown(page: Page): Promise<() => Promise<void>> {
	const browser = await page.context().newCDPSession(page);
	const upload = (uploadThroughput: number) =>
		browser.send('Network.emulateNetworkConditions', {
			...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
		});
	await upload(SLOW);
	return () => upload(-1);
}

/** Has the server report another state of the import. */
const report = (page: Page, state: object) =>
	page.route('**/web/ways', async (route) => {
		const response = await route.fetch();
		const ways = await response.json();
		await route.fulfill({
			response,
			json: { ...ways, importing: { ...ways.importing, ...state } },
		});
	});

test('the end of an import is shown in the view that is opened then', async () => {
	const { page } = await opens();
	const speedUp = await slowDown(page);
	await choose(page, exportOf(17, LARGE));
	await says(page, 'Uploading…');
	await page.getByRole('link', { name: 'Status' }).click();
	const answered = page.waitForResponse((response) => response.url().endsWith('/web/importing'));
	await speedUp();
	await answered;
	// The import takes much less.
	await sleep(2_000);
	await page.getByRole('link', { name: 'Calendar' }).click();
	await says(page, 'The export is imported.');
});

test("an import that a restart interrupted isn't reported as complete", async () => {
	const { page } = await opens();
	await report(page, { state: 'running', done: 1, total: 9 });
	await page.goto('/');
	await says(page, /^1 of 9 files imported/);
	await page.unroute('**/web/ways');
	await says(page, /^The server was restarted, perhaps before the import had ended/);
	await page.reload();
	await field(page).waitFor({ state: 'attached' });
});

test("while another page imports, no export is uploaded, and the other's result isn't shown", async () => {
	const { server, page } = await opens();
	const { page: other } = await opensWays(server);
	const speedUp = await slowDown(page);
	await choose(page, exportOf(17, LARGE));
	await until(async () => {
		const { importing } = await (await ask(server, '/web/ways')).json();
		return importing.state === 'receiving';
	});
	await choose(other, exportOf(18));
	await says(
		other,
		"Your export isn't uploaded, because another is being imported. Choose it again when that has ended.",
	);
	expect(await field(other).count()).toBe(0);
	await speedUp();
	await says(page, /^Imported: 1 lifelog/);
	await field(other).waitFor({ state: 'attached' });
	expect(await other.getByText('Imported:').count()).toBe(0);
	await choose(other, exportOf(18));
	await says(other, /^Imported: 1 lifelog/);
});

test("the result of an earlier import isn't shown for one that fails", async () => {
	const { page, wrong } = await opens();
	await choose(page, exportOf(17));
	await says(page, /^Imported: 1 lifelog/);
	await page.route('**/web/importing', (route) =>
		route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Sign in</h1>' }),
	);
	await choose(page, exportOf(18));
	await says(page, 'The server returned an unexpected response (200).');
	expect(await page.getByText('Imported:').count()).toBe(0);
	await page.unroute('**/web/importing');
	await page.route('**/web/importing', (route) => route.fulfill({ status: 413, body: '' }));
	await choose(page, exportOf(18));
	await says(page, 'The server returned an unexpected response (413).');
	await page.unroute('**/web/importing');
	await choose(page, exportOf(18));
	await says(page, /^Imported: 1 lifelog/);
	expect(wrong.splice(0)).toEqual([expect.stringContaining('413')]);
});

test("a lost answer isn't a problem if the server imports the export", async () => {
	const { page, wrong } = await opens();
	await page.route('**/web/importing', async (route) => {
		await report(page, { state: 'running', done: 1, total: 9 });
		await route.abort();
	});
	await choose(page, exportOf(17));
	await says(page, /^1 of 9 files imported/);
	await page.unroute('**/web/ways');
	await report(page, { state: 'ended' });
	await field(page).waitFor({ state: 'attached' });
	expect(await page.getByText("isn't responding").count()).toBe(0);
	expect(wrong.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
});

(mayMount ? test : test.skip)(
	'a disk that is full before or during the upload is reported, and the next upload works when there is room',
	async () => {
		const disk = temporaryFolder();
		const mount = (options: string) => spawnSync('mount', ['-o', options, 'tmpfs', disk]);
		spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=500m', 'tmpfs', disk]);
		try {
			const folder = join(disk, 'archive');
			mkdirSync(folder);
			const { page, wrong } = await opens(folder);
			const zip = exportOf(17, LARGE);
			await choose(page, zip);
			await says(page, "The export has 60 MB. The server's disk has room for 0 bytes.");
			mount('remount,size=1200m');
			const speedUp = await slowDown(page);
			await choose(page, zip);
			await says(page, 'Uploading…');
			const { blocks, bfree, bsize } = statfsSync(disk);
			mount(`remount,size=${(blocks - bfree) * bsize + LITTLE}`);
			await speedUp();
			await says(page, /^The disk of the server is full/);
			mount('remount,size=1200m');
			await choose(page, zip);
			await says(page, /^Imported: 1 lifelog/);
			expect(wrong.splice(0)).toEqual([expect.stringContaining('507')]);
		} finally {
			spawnSync('umount', ['--lazy', disk]);
		}
	},
);
