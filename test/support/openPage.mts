import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { makeLink } from '../../server/http/auth/link.mts';
import type { NewKey } from '../../server/http/pageApi/answers.mts';
import { startBrowser } from '../n8n/support/browser.mts';
import { serverKey, startLifelogServer, type SpawnedServer } from './lifelogServer.mts';
import { buildPage, send } from './web.mts';

/** A page, and what is wrong in it: a test takes out of `wrong` what it expects. */
interface Opened {
	page: Page;
	wrong: string[];
	context: BrowserContext;
}

/** Pages in Chromium for the tests of a file. A test fails if something is wrong in a page that it opened. */
export function usePages() {
	let browser: Browser;
	const wrongs: string[][] = [];
	/** What a test has to close, last first. */
	const closing: (() => Promise<unknown>)[] = [];

	beforeAll(async () => {
		buildPage();
		browser = await startBrowser();
	});
	afterEach(async () => {
		for (const close of closing.splice(0).reverse()) await close();
		expect(wrongs.splice(0).flat()).toEqual([]);
	});
	afterAll(async () => {
		await browser?.close();
	});

	/** Opens a page of a server, by default one that somebody has signed in to. */
	async function open(
		server: Pick<SpawnedServer, 'url'>,
		{ isSignedIn = true, locale = 'en-US' } = {},
	): Promise<Opened> {
		const opened = await openPage(browser, server, isSignedIn, locale);
		closing.push(() => opened.context.close());
		wrongs.push(opened.wrong);
		return opened;
	}

	/** Opens a page of a server of an archive, signed in with a key that can only read. */
	async function openReadOnly(server: SpawnedServer, folder: string): Promise<Page> {
		const index = join(folder, '.lifelog-index.sqlite');
		const owner = await open(server, { isSignedIn: false });
		await owner.page.goto(`/connect#link=${makeLink(index, `${index}.key`, Date.now())}`);
		await owner.page.waitForSelector('section[aria-label="New key"]');
		const { key } = await owner.page.evaluate(async () => {
			const response = await fetch('/web/keys', {
				method: 'POST',
				headers: { 'X-Lifelog-Page': '1', 'Content-Type': 'application/json' },
				body: JSON.stringify({ name: 'Reader', isReadOnly: true }),
			});
			return (await response.json()) as NewKey;
		});
		const { page } = await open(server, { isSignedIn: false });
		await page.goto('/people');
		await page.fill('#key', key);
		await page.keyboard.press('Enter');
		await page.waitForSelector('.people li');
		return page;
	}

	/** Starts a server for the test. */
	async function serve(folder: string, args: string[] = []): Promise<SpawnedServer> {
		const server = await startLifelogServer(folder, args);
		closing.push(server.close);
		return server;
	}

	return { closing, open, openReadOnly, serve, browser: () => browser };
}

async function openPage(
	browser: Browser,
	{ url }: Pick<SpawnedServer, 'url'>,
	isSignedIn: boolean,
	locale: string,
): Promise<Opened> {
	const context = await browser.newContext({
		...{ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' },
		...{ locale, timezoneId: 'America/New_York', baseURL: url },
	});
	if (isSignedIn) {
		const { headers } = await send(url, '/session', {
			method: 'POST',
			headers: { origin: url, 'x-lifelog-page': '1' },
			body: { key: serverKey },
		});
		const [name, value] = headers['set-cookie']![0].split(';')[0].split('=');
		await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
	}
	const wrong: string[] = [];
	const page = await context.newPage();
	page.setDefaultTimeout(60_000);
	page.on('console', (message) => {
		if (['error', 'warning'].includes(message.type())) wrong.push(message.text());
	});
	page.on('pageerror', ({ message }) => wrong.push(message));
	page.on('dialog', (dialog) => {
		wrong.push(`dialog ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on('request', (request) => {
		const to = request.url();
		if (!to.startsWith(`${url}/`) && !to.startsWith('blob:')) wrong.push(`request to ${to}`);
	});
	context.on('page', (opened) => wrong.push(`opened ${opened.url()}`));
	await page.addInitScript({ path: 'node_modules/axe-core/axe.min.js' });
	return { page, wrong, context };
}

/** What axe-core finds on a page. */
export async function findings(page: Page): Promise<string[]> {
	return await page.evaluate(async () => {
		const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
		const { violations } = await axe.run(document, { preload: false });
		return violations.map(
			({ id, nodes }) =>
				`${id}: ${nodes
					.slice(0, 3)
					.map(({ html, failureSummary }) => `${html} ${failureSummary}`)
					.join('\n')}`,
		);
	});
}

/** Looks at the view in both colors, on a phone and on a desktop. */
export async function looksRight(page: Page): Promise<void> {
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: width === 360 ? 740 : 860 });
			const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
			const found = [colorScheme, scroll, await findings(page)];
			expect(found).toEqual([colorScheme, width, []]);
		}
	}
}
