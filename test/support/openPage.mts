import type { Browser, BrowserContext, Page } from 'playwright-core';
import { serverKey, type SpawnedServer } from './lifelogServer.mts';
import { send } from './web.mts';

/** Opens a page of a server that somebody has signed in to; whatever is wrong in it is noted. */
export async function openPage(
	browser: Browser,
	{ url }: Pick<SpawnedServer, 'url'>,
	{ isSignedIn = true, closing }: { isSignedIn?: boolean; closing: (() => Promise<void>)[] },
): Promise<{ page: Page; wrong: string[]; context: BrowserContext }> {
	const context = await browser.newContext({
		...{ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' },
		...{ locale: 'en-US', timezoneId: 'America/New_York', baseURL: url },
	});
	closing.push(() => context.close());
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
