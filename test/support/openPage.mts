import type { Browser, BrowserContext, Page } from 'playwright-core';
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

	/** Starts a server for the test. */
	async function serve(folder: string, args: string[] = []): Promise<SpawnedServer> {
		const server = await startLifelogServer(folder, args);
		closing.push(server.close);
		return server;
	}

	return { closing, open, serve, browser: () => browser };
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
