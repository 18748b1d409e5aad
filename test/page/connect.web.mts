// The page of lifelog-server in Chromium: signing in by a link, and keys for other programs.
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Page } from 'playwright-core';
import { makeLink, writeLinkPage } from '../../server/http/auth/link.mts';
import { temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { findings, usePages } from '../support/openPage.mts';

const pages = usePages();

async function starts() {
	const folder = join(temporaryFolder(), 'archive');
	mkdirSync(folder);
	await writeArchive(folder, { lifelogs: [lifelogOf('a', '2026-03-01T12:00:00Z')] });
	const server = await pages.serve(folder, ['--allow-changes', '--allow-delete']);
	const index = join(folder, '.lifelog-index.sqlite');
	const link = () => makeLink(index, `${index}.key`, Date.now());
	return { ...server, index, link, pathOf: (path = '/') => `${path}#link=${link()}` };
}
type Started = Awaited<ReturnType<typeof starts>>;

const open = (server: Started) => pages.open(server, { isSignedIn: false });

/** Opens a page with a session that began with a link. */
async function openAsOwner(server: Started, view = '/connect') {
	const opened = await open(server);
	await opened.page.goto(server.pathOf(view));
	await opened.page.waitForSelector('header nav');
	return opened;
}

/** All that a browser keeps of the page, besides cookies. */
const keptBy = (page: Page) =>
	page.evaluate(async () => {
		const databases = await indexedDB.databases();
		const caches = await globalThis.caches?.keys();
		return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases, caches]);
	});

describe('a link', () => {
	test('signs in, and is gone from the address, the history and what the browser keeps', async () => {
		const server = await starts();
		const { page } = await open(server);
		const requested: string[] = [];
		page.on('request', (request) => requested.push(request.url(), request.headers().referer ?? ''));
		const link = server.link();
		await page.goto('about:blank');
		await page.goto(`/days/2026-03-01#link=${link}`);
		await page.waitForSelector('.entry');
		expect(page.url()).toBe(`${server.url}/days/2026-03-01`);
		expect(requested.join()).not.toContain(link);
		expect(await keptBy(page)).not.toContain(link);
		expect(await page.content()).not.toContain(link);
		// In the history is only the address without it.
		await page.goto('/status');
		await page.goBack();
		await page.waitForSelector('.entry');
		expect(page.url()).toBe(`${server.url}/days/2026-03-01`);
		await page.goBack();
		expect(page.url()).toBe('about:blank');
	});

	test('comes from the file that the browser is opened with', async () => {
		const server = await starts();
		const { page, wrong } = await open(server);
		const path = writeLinkPage(server.index, `${server.url}/#link=${server.link()}`);
		const file = pathToFileURL(path).href;
		await page.goto(file);
		await page.waitForSelector('header nav');
		expect(page.url()).toBe(`${server.url}/`);
		expect(wrong.splice(0)).toEqual([`request to ${file}`]);
	});

	test('that was used says so, with what to do', async () => {
		const server = await starts();
		const link = server.pathOf();
		const first = await open(server);
		await first.page.goto(link);
		await first.page.waitForSelector('header nav');
		const second = await open(server);
		await second.page.goto(link);
		const problem = await second.page.waitForSelector('.problem:not(:empty)');
		expect(await problem.textContent()).toMatch(/^This link was used, .*a newer one$/);
		expect(await second.page.locator('.sign-in code').textContent()).toBe(
			'lifelog-server link <folder>',
		);
		expect(second.page.url()).toBe(`${server.url}/`);
		expect(await findings(second.page)).toEqual([]);
		// The browser logs the 401 itself.
		expect(second.wrong.splice(0)).toHaveLength(1);
		// A new one is typed into the same tab.
		await second.page.goto(server.pathOf());
		await second.page.waitForSelector('header nav');
		expect(second.page.url()).toBe(`${server.url}/`);
	});

	test('that two tabs of one browser open signs both in', async () => {
		const server = await starts();
		const { page, context, wrong } = await open(server);
		const other = await context.newPage();
		const link = server.pathOf();
		await Promise.all([page.goto(link), other.goto(link)]);
		for (const tab of [page, other]) {
			await tab.waitForSelector('header nav, #key');
			await tab.reload();
			await tab.waitForSelector('header nav');
		}
		// One of them may come too late with the link.
		const expected = /^opened about:blank$|401/;
		expect(wrong.splice(0).filter((each) => !expected.test(each))).toEqual([]);
	});
});

/** Makes a key on the page, and returns what it shows of it. */
async function makeKey(page: Page, kind: string, name?: string): Promise<Record<string, string>> {
	await page.click(`section[aria-label="New key"] >> text="${kind}"`);
	await page.waitForSelector('dialog[open]');
	expect(await findings(page)).toEqual([]);
	if (name !== undefined) await page.fill('#key-name', name);
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('.notice .copied');
	const rows = page.locator('.notice .facts > div');
	const [names, values] = [
		await rows.locator('dt').allTextContents(),
		await rows.locator('.copied').allTextContents(),
	];
	return Object.fromEntries(names.map((each, nth) => [each, values[nth]]));
}

const statusOf = async (url: string, key: string, method = 'GET') =>
	(await fetch(`${url}/v1/lifelogs/none`, { method, headers: { 'X-API-Key': key } })).status;

describe('Connect', () => {
	test('makes a key for n8n that is shown once, and removes it', async () => {
		const server = await starts();
		const { page } = await openAsOwner(server);
		const shown = await makeKey(page, 'n8n');
		expect(shown['Base URL']).toBe(server.url);
		const key = shown['API Key'];
		expect(await findings(page)).toEqual([]);
		expect([await statusOf(server.url, key), await statusOf(server.url, key, 'DELETE')]).toEqual([
			...[404, 404],
		]);
		expect(await keptBy(page)).not.toContain(key);
		await page.reload();
		await page.waitForSelector('.access >> text="n8n"');
		expect(await page.content()).not.toContain(key);
		expect(await page.locator('.access li', { hasText: 'n8n' }).textContent()).toMatch(
			/^n8nFull · made .* · last used /,
		);
		await page.click('[aria-label="Remove n8n"]');
		await page.waitForSelector('dialog[open]');
		expect(await findings(page)).toEqual([]);
		await page.click('dialog button[type=submit]');
		await page.waitForSelector('[aria-label="Remove n8n"]', { state: 'detached' });
		expect(await statusOf(server.url, key)).toBe(401);
	});

	test('makes a key for an MCP client that only reads', async () => {
		const server = await starts();
		const { page } = await openAsOwner(server);
		const { Address: address, Header: header } = await makeKey(page, 'MCP client', 'My agent');
		const [name, value] = header.split(': ');
		const client = new Client({ name: 'test', version: '1.0.0' });
		const transport = new StreamableHTTPClientTransport(new URL(address), {
			requestInit: { headers: { [name]: value } },
		});
		await client.connect(transport);
		expect((await client.listTools()).tools.length).toBeGreaterThan(0);
		await client.close();
		expect(await statusOf(server.url, value.replace('Bearer ', ''), 'DELETE')).toBe(403);
		const row = page.locator('.access li', { hasText: 'My agent' });
		expect(await row.textContent()).toContain('Read-only');
	});

	test('makes a key for a script, with a command that works', async () => {
		const server = await starts();
		const { page } = await openAsOwner(server);
		const shown = await makeKey(page, 'Script');
		// The server is in this process, so it must go on meanwhile.
		const { stdout } = await promisify(execFile)('sh', ['-c', shown['Try it']]);
		expect(JSON.parse(stdout).data.lifelogs).toHaveLength(1);
		await page.click('text="Done"');
		await page.waitForSelector('.copied', { state: 'detached' });
		expect(await page.content()).not.toContain(shown['API key']);
	});

	test('a browser that signed in with a key makes none, changes what the key may, and ends with it', async () => {
		const server = await starts();
		const owner = await openAsOwner(server);
		const { 'API key': key } = await makeKey(owner.page, 'Script', 'Tablet');
		const tablet = await open(server);
		await tablet.page.goto('/lifelogs/a');
		await tablet.page.fill('#key', key);
		await tablet.page.keyboard.press('Enter');
		await tablet.page.waitForSelector('.lifelog .actions');
		expect(await keptBy(tablet.page)).not.toContain(key);
		// It can only read.
		expect(await tablet.page.locator('.lifelog .actions >> text=Star').count()).toBe(0);
		await tablet.page.keyboard.press('p');
		await tablet.page.waitForSelector('text=lifelog-server link <folder>');
		expect(await tablet.page.locator('.access').count()).toBe(0);
		expect(await findings(tablet.page)).toEqual([]);
		await owner.page.reload();
		const row = owner.page.locator('.access li', { hasText: 'with the key Tablet' });
		await row.waitFor();
		await owner.page.click('[aria-label="Remove Tablet"]');
		await owner.page.click('dialog button[type=submit]');
		await row.waitFor({ state: 'detached' });
		await tablet.page.click('header nav >> text=Calendar');
		await tablet.page.waitForSelector('text=Your session has ended');
		// The browser logs the 401 itself.
		expect(tablet.wrong.splice(0).filter((each) => !each.includes('401'))).toEqual([]);
	});

	test('ends the session of another browser, and all', async () => {
		const server = await starts();
		const one = await openAsOwner(server);
		const two = await openAsOwner(server);
		await two.page.waitForSelector('text=This browser');
		expect(await two.page.locator('.access li').allTextContents()).toEqual([
			expect.stringMatching(/LIFELOG_SERVER_KEY.*Set when the server was started$/),
			expect.stringMatching(/^Another browserSigned in .* with a link · last used .*End$/),
			expect.stringMatching(/^This browser/),
		]);
		await two.page.click('[aria-label^="End the session of"]');
		await two.page.waitForSelector('text=Another browser', { state: 'detached' });
		await one.page.click('header nav >> text=Calendar');
		await one.page.waitForSelector('text=Your session has ended');
		await two.page.keyboard.press('x');
		await two.page.waitForSelector('dialog[open]');
		await two.page.click('dialog button[type=submit]');
		await two.page.waitForSelector('text=Your session has ended');
		await two.page.goto(server.pathOf());
		await two.page.waitForSelector('header nav');
		for (const { wrong } of [one, two]) {
			expect(wrong.splice(0).filter((each) => !each.includes('401'))).toEqual([]);
		}
	});

	test('has a key for every control, and room on a phone, light and dark', async () => {
		const server = await starts();
		const { page } = await openAsOwner(server);
		await makeKey(page, 'n8n');
		const keys = await page.evaluate(() =>
			Array.from(document.querySelectorAll('main button:not(.access *)')).map(
				(each) => each.getAttribute('aria-keyshortcuts') ?? each.outerHTML,
			),
		);
		expect(keys).toEqual(['1', '2', '3', '4', '5', 'd', 'x']);
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({ colorScheme });
			for (const width of [1280, 360]) {
				await page.setViewportSize({ width, height: 740 });
				expect([colorScheme, width, await findings(page)]).toEqual([colorScheme, width, []]);
				const [inner, scroll] = await page.evaluate(() => [
					innerWidth,
					document.documentElement.scrollWidth,
				]);
				expect([width, scroll]).toEqual([width, inner]);
			}
		}
		const heights = await page.evaluate(() =>
			Array.from(
				document.querySelectorAll<HTMLElement>('main .access button, main .buttons button'),
			).map(({ offsetHeight }) => offsetHeight),
		);
		expect(new Set(heights).size).toBe(1);
		await page.keyboard.press('1');
		const [inner, scroll] = await page
			.locator('dialog[open]')
			.evaluate(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth]);
		expect(scroll).toBe(inner);
	});
});
