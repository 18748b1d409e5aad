// An export that is uploaded on the page, and what may happen meanwhile.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import {
	ask,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../server/sources.mts';
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
async function opensWays(server: SpawnedServer) {
	const opened = await open(server);
	await opened.page.goto('/add');
	await field(opened.page).waitFor({ state: 'attached' });
	return opened;
}

const field = (page: Page) => page.locator('input[accept*=zip]');
const choose = (page: Page, zip: string) => field(page).setInputFiles(zip);
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Has the page upload slowly, until the returned function is called. */
async function slowDown(page: Page): Promise<() => Promise<unknown>> {
	const browser = await page.context().newCDPSession(page);
	const upload = (uploadThroughput: number) =>
		browser.send('Network.emulateNetworkConditions', {
			...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
		});
	await upload(SLOW);
	return () => upload(-1);
}

/** Waits until a server receives an export. */
async function receives(server: SpawnedServer): Promise<void> {
	await until(async () => {
		const { importing } = await (await ask(server, '/web/ways')).json();
		return importing.state === 'receiving';
	});
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
	const folder = temporaryFolder();
	const first = await startLifelogServer(folder);
	const { page: early, wrong } = await opensWays(first);
	await choose(early, exportOf(17));
	await says(early, /^Imported: 1 lifelog/);
	await slowDown(early);
	await choose(early, exportOf(18, LARGE));
	await receives(first);
	await first.close();
	await says(early, /^The server isn't responding/);
	await early.close();
	wrong.splice(0);

	const { page } = await opens(folder);
	await page.goto('/');
	await says(page, 'The last import failed.');
	await page.setViewportSize({ width: 390, height: 400 });
	await page.getByRole('link', { name: 'Show details' }).click();
	const reason = page.getByText(/^The import was interrupted. Upload the export again/);
	await reason.waitFor();
	expect(await reason.evaluate((of) => of.getBoundingClientRect().top < innerHeight)).toBe(true);
	await choose(page, exportOf(18));
	await says(page, /^Imported: 1 lifelog/);
	await page.goto('/');
	await page.locator('.day').first().waitFor();
	expect(await page.getByText('The last import failed.').count()).toBe(0);
});

test("while another page imports, no export is uploaded, and the other's result isn't shown", async () => {
	const { server, page } = await opens();
	const { page: other } = await opensWays(server);
	const earlier = await (await ask(server, '/web/ways')).json();
	const speedUp = await slowDown(page);
	await choose(page, exportOf(17, LARGE));
	await receives(server);
	await other.goto('/');
	await other.goto('/add');
	await says(other, 'Another page is uploading an export.');
	expect(await other.getByText('The server goes on').count()).toBe(0);
	await other.route('**/web/ways', (route) => route.fulfill({ json: earlier }));
	await field(other).waitFor({ state: 'attached' });
	await other.unroute('**/web/ways');
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
	const button = page.getByRole('button', { name: 'Choose the zip' });
	await button.and(page.locator(':focus')).waitFor();
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
			// It has looked for room before it writes.
			await until(() => existsSync(join(folder, '.lifelog-drafts')));
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

test('a folder and several files are refused, and a problem with the server clears', async () => {
	const { page, wrong } = await opens();
	const drop = (names: string[], isFolder: boolean) =>
		page.locator('section[aria-label="Upload the export"]').evaluate(
			(place, [files, hasFolder]) => {
				const data = new DataTransfer();
				for (const name of files) data.items.add(new File(['a'], name));
				if (hasFolder) {
					// A page can't make an item that is a folder.
					DataTransferItem.prototype.webkitGetAsEntry = () => ({ isDirectory: true }) as never;
				}
				place.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: data }));
			},
			[names, isFolder] as const,
		);
	await drop(['a.zip', 'b.zip'], false);
	await says(page, 'Only one file can be uploaded at a time.');
	await drop(['export'], true);
	await says(page, "A folder can't be uploaded. Drop files.");
	await page.route('**/web/days', (route) => route.abort());
	await page.goto('/');
	await says(page, /^The server isn't responding/);
	await page.unroute('**/web/days');
	await field(page).waitFor({ state: 'attached' });
	await page.goto('/add');
	await field(page).waitFor({ state: 'attached' });
	await page.route('**/web/ways', (route) => route.abort());
	await choose(page, exportOf(17));
	const problems = page.getByText(/^The server isn't responding/);
	await until(async () => (await problems.count()) === 2);
	await page.unroute('**/web/ways');
	// That of the upload stays until the next one.
	await until(async () => (await problems.count()) === 1);
	await choose(page, exportOf(17));
	await says(page, /^Imported: 1 lifelog/);
	expect(await problems.count()).toBe(0);
	expect(wrong.splice(0).filter((each) => !each.includes('ERR_FAILED'))).toEqual([]);
});
