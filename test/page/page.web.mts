// The page of lifelog-server in Chromium, over an archive of its own.
import { readFileSync } from 'node:fs';
import type { Lifelog } from '../../lifelog/api.ts';
import { ask, temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { engineAt } from '../support/lab.mts';
import { serverKey, type SpawnedServer } from '../support/lifelogServer.mts';
import { until } from '../support/soon.mts';
import { findings, usePages } from '../support/openPage.mts';
import { workflowWith } from '../support/workflow.mts';
import { unzip } from '../support/zip.mts';
import { CHANGING, DAY, DAY_MS, dayOf, longestOf, serveDays, ZONE } from './days.mts';

let server: SpawnedServer;
let lifelogs: Lifelog[];

beforeAll(async () => {
	({ server, lifelogs } = await serveDays());
});

afterAll(async () => {
	await server?.close();
});

const pages = usePages();
const open = (of = server, options = {}) => pages.open(of, options);

const longest = () => longestOf(lifelogs);

test('a wrong key is refused, the right key signs in, and signing out ends the session', async () => {
	const { page, wrong, context } = await open(server, { isSignedIn: false });
	await page.goto(`/days/${DAY}`);
	await page.waitForSelector('#key');
	expect(await findings(page)).toEqual([]);
	await page.fill('#key', 'wrong');
	await page.keyboard.press('Enter');
	const problem = await page.waitForSelector('[role=alert]:not(:empty)');
	expect(await problem.textContent()).toContain("That isn't an API key of this server");
	// The browser logs the 401 itself.
	expect(wrong.splice(0)).toHaveLength(1);
	await page.fill('#key', serverKey);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.entry');
	const kept = await page.evaluate(() =>
		JSON.stringify([localStorage, sessionStorage, document.cookie]),
	);
	expect(kept).not.toContain(serverKey);
	expect(kept).not.toContain('lifelog_session');
	expect(JSON.stringify(await context.cookies())).not.toContain(serverKey);
	await page.reload();
	await page.waitForSelector('.entry');
	await page.click('header summary');
	await page.click('header >> text=Sign out');
	expect(await findings(page)).toEqual([]);
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('#key');
});

test('when the session ends, the page asks for the key, and signing in returns to the view', async () => {
	const { page, wrong, context } = await open();
	const signInAgain = async (ready: string) => {
		await page.waitForSelector('text=Your session has ended');
		expect(await findings(page)).toEqual([]);
		await page.fill('#key', serverKey);
		await page.keyboard.press('Enter');
		await page.waitForSelector(ready);
	};
	await page.goto('/');
	await page.waitForSelector(`[data-day="${DAY}"]`);
	await context.clearCookies();
	await page.click(`[data-day="${DAY}"]`);
	await signInAgain('.entry');
	expect(new URL(page.url()).pathname).toBe(`/days/${DAY}`);
	// A change of a view that is open.
	await page.click(`.entry a[href="/lifelogs/${longest().id}"]`);
	await page.waitForSelector('.transcript .said');
	// Audio that is still on its way would end the session, too.
	await page.waitForFunction(() => {
		const networkState = document.querySelector('audio')?.networkState;
		return networkState === HTMLMediaElement.NETWORK_IDLE;
	});
	await context.clearCookies();
	await page.click('text=☆ Star');
	await signInAgain('.transcript .said');
	expect(new URL(page.url()).pathname).toBe(`/lifelogs/${longest().id}`);
	// The browser logs each 401 itself.
	expect(wrong.splice(0).filter((each) => !each.includes('401'))).toEqual([]);
});

test('clicks lead from the calendar to a lifelog and back, and to every view', async () => {
	const { page } = await open();
	await page.goto('/');
	await page.click(`[data-day="${DAY}"]`);
	await page.click(`.entry a[href="/lifelogs/${longest().id}"]`);
	await page.waitForSelector('.transcript .said');
	expect(await page.textContent('h1')).toContain(longest().title);
	// The title isn't repeated in the transcript.
	expect(await page.locator('.transcript .part').allTextContents()).not.toContain(longest().title);
	await page.click('.head a');
	await page.waitForSelector('.entry');
	// The blocks of the bar lead to lifelogs, too.
	await page.locator('.bar a').first().click();
	await page.waitForSelector('.transcript');
	await page.goBack();
	await page.click('.neighbors >> nth=1 >> a >> nth=0');
	await page.waitForURL('**/days/2026-03-16');
	for (const [name, ready] of [
		['Search', '.search'],
		['People', '.people li'],
		['Chats', '.rows'],
		['Status', '.facts'],
		['Calendar', '.months'],
	]) {
		await page.click(`header nav >> text=${name}`);
		await page.waitForSelector(ready);
	}
	await page.click('header nav >> text=Chats');
	await page.click('.rows a >> nth=0');
	await page.waitForSelector('.message');
	const said = await page.locator('.message .markdown').allTextContents();
	expect(said.filter((text) => text.trim() === '')).toEqual([]);
	await page.goBack();
	await page.waitForSelector('.rows');
});

test('keys lead to every view', async () => {
	const { page } = await open();
	const focused = () =>
		page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-day]')?.dataset.day);
	await page.goto('/');
	await page.waitForSelector('.month .day[data-day]');
	await page.keyboard.press('t');
	const newest = await focused();
	expect(newest).toBe(dayOf(lifelogs.at(-1)!));
	await page.keyboard.press('ArrowLeft');
	const before = await focused();
	expect(before! < newest!).toBe(true);
	await page.keyboard.press('ArrowRight');
	expect(await focused()).toBe(newest);
	await page.keyboard.press('ArrowUp');
	expect(Date.parse(newest!) - Date.parse((await focused())!)).toBe(7 * DAY_MS);
	await page.keyboard.press('PageDown');
	expect((await focused())! < before!).toBe(true);
	await page.keyboard.press('t');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.entry');
	await page.keyboard.press('ArrowLeft');
	await page.waitForURL(`**/days/${before}`);
	for (const [key, ready] of [
		['g', '.people li'],
		['h', '.rows'],
		['s', '.facts'],
		['c', '.months'],
		['/', '.search'],
	]) {
		await page.keyboard.press(key);
		await page.waitForSelector(ready);
	}
	await page.waitForSelector('input[type=search]:focus');
	const spoken = longest().contents.flatMap(function all({
		type,
		content,
		children = [],
	}): string[] {
		return [...(type === 'blockquote' ? [content] : []), ...children.flatMap(all)];
	});
	// Far down, and said once.
	const line = spoken.findLast((each) => each.length > 25)!;
	await page.keyboard.type(`"${line}"`);
	await page.waitForURL((to) => to.searchParams.get('q') === `"${line}"`);
	await page.waitForSelector('.result mark');
	await page.reload();
	await page.waitForSelector('.result mark');
	await page.locator(`.result:has(mark) a[href^="/lifelogs/${longest().id}"]`).focus();
	await page.keyboard.press('Enter');
	await page.waitForSelector('.said[aria-current]');
	expect(await page.textContent('.said[aria-current]')).toBe(line);
});

test('a transcript is for Tab a single line, with ↑ and ↓ to the others, and leads to the lifelogs beside it', async () => {
	const { page, context } = await open();
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.goto(`/lifelogs/${longest().id}`);
	await page.waitForSelector('.player');
	const focused = (css: string) => page.evaluate((of) => document.activeElement!.matches(of), css);
	await page.focus('.transcript');
	await page.keyboard.press('ArrowDown');
	expect(await focused('.transcript button')).toBe(true);
	const first = await page.evaluate(() => document.activeElement!.outerHTML);
	await page.keyboard.press('ArrowDown');
	const second = await page.evaluate(() => document.activeElement!.outerHTML);
	expect(second).not.toBe(first);
	await page.keyboard.press('ArrowUp');
	expect(await page.evaluate(() => document.activeElement!.outerHTML)).toBe(first);
	const line = await page.evaluate(
		() => document.activeElement!.closest<HTMLElement>('[data-line]')!.dataset.line,
	);
	await page.keyboard.press('Tab');
	expect(await focused(`[data-line="${line}"] .edit-line`)).toBe(true);
	await page.keyboard.press('Tab');
	expect(await focused('.player button')).toBe(true);
	// No two lines have the same name.
	const names = await page
		.getByRole('button', { name: /^Play from/ })
		.evaluateAll((all) => all.map((each) => each.ariaLabel));
	expect(new Set(names).size).toBe(names.length);
	await page.click('.actions >> text="Copy"');
	await page.waitForSelector('.actions >> text="Copied"');
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	expect(copied).toContain(`# ${longest().title}`);
	await page.waitForSelector('[aria-keyshortcuts="]"]');
	await page.keyboard.press(']');
	await page.waitForSelector(`[aria-keyshortcuts="["][href$="${longest().id}"]`);
	await page.keyboard.press('[');
	await page.waitForURL(`**/lifelogs/${longest().id}`);
});

test('the chosen theme is used and kept', async () => {
	const { page } = await open();
	const scheme = () =>
		page.evaluate(() => {
			const { backgroundColor } = getComputedStyle(document.body);
			return Number(/\d+/.exec(backgroundColor)![0]) < 128 ? 'dark' : 'light';
		});
	await page.emulateMedia({ colorScheme: 'light' });
	await page.goto('/');
	const choose = async (name: string) => {
		await page.click('header summary');
		await until(async () => {
			if ((await page.textContent('.theme'))!.includes(name)) return true;
			await page.click('.theme');
			return false;
		});
		await page.keyboard.press('Escape');
	};
	await choose('Dark');
	expect(await scheme()).toBe('dark');
	await page.reload();
	await page.waitForSelector('header summary');
	expect(await scheme()).toBe('dark');
	await choose('Light');
	await page.emulateMedia({ colorScheme: 'dark' });
	expect(await scheme()).toBe('light');
	await choose('System');
	expect(await scheme()).toBe('dark');
	await page.keyboard.press('l');
	expect(await scheme()).toBe('light');
});

test('single-key shortcuts can be turned off', async () => {
	const { page } = await open();
	await page.goto('/status');
	await page.waitForSelector('.facts');
	await page.keyboard.press('?');
	await page.uncheck('dialog input[type=checkbox]');
	await page.keyboard.press('Escape');
	await page.reload();
	await page.waitForSelector('.facts');
	for (const key of ['h', '/', '?', 'q']) await page.keyboard.press(key);
	await page.waitForTimeout(300);
	expect(new URL(page.url()).pathname).toBe('/status');
	expect(await page.locator('dialog').count()).toBe(0);
	await page.click('header summary');
	await page.click('text=Keyboard shortcuts');
	await page.check('dialog input[type=checkbox]');
	await page.keyboard.press('Escape');
	await page.waitForSelector('dialog', { state: 'detached' });
	await page.keyboard.press('h');
	await page.waitForSelector('.rows');
});

test('a key is handled from the moment that its view is shown', async () => {
	const { page } = await open();
	await page.addInitScript(() => {
		const observer = new MutationObserver(() => {
			if (!document.querySelector('.months')) return;
			observer.disconnect();
			document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true }));
		});
		observer.observe(document, { childList: true, subtree: true });
	});
	await page.goto('/');
	await page.waitForSelector('.day[data-day]:focus');
});

test('a dialog that closes late leaves the focus where it was moved meanwhile', async () => {
	const { page } = await open();
	await page.goto('/status');
	await page.waitForSelector('.facts');
	// The page hears of it only after this.
	await page.evaluate(() =>
		document.addEventListener(
			'close',
			() => document.querySelector<HTMLElement>('header nav a')!.focus(),
			{ capture: true },
		),
	);
	for (const keys of [['?'], ['?', 'Tab']]) {
		for (const key of [...keys, 'Escape']) await page.keyboard.press(key);
		await page.waitForSelector('dialog', { state: 'detached' });
		await page.waitForSelector('header nav a:focus');
	}
});

test("the day's summary is the same as that of Get Daily Summary", async () => {
	const { page, context } = await open();
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	const engine = await engineAt(server);
	pages.closing.push(() => engine.close());
	const result = await engine.runWorkflow(
		workflowWith('lifelog', {
			...{ operation: 'getDailySummary', day: 'date', date: DAY, format: 'markdown' },
			options: { timezone: ZONE },
		}),
	);
	const [{ json }] = result.items('Node');
	expect(json.markdown).toContain(longest().title);
	await page.goto(`/days/${DAY}`);
	await page.click('text=Copy as Markdown');
	await page.waitForSelector('.summary >> text=Copied');
	await expect(page.evaluate(() => navigator.clipboard.readText())).resolves.toBe(json.markdown);
	// It's open until somebody closes it, and each line leads to its lifelog.
	await page.click('.summary summary');
	await page.reload();
	await page.waitForSelector('.summary:not([open])');
	await page.keyboard.press('y');
	const lines = page.locator('.summary h2:text("What happened") + ul a');
	expect(await lines.count()).toBe(await page.locator('.entry').count());
	await lines.filter({ hasText: longest().title! }).first().click();
	await page.waitForSelector('.transcript .said');
	expect(await page.textContent('h1')).toContain(longest().title);
});

test('a lifelog can be downloaded as Markdown, JSON, SRT, WebVTT and audio', async () => {
	const { page } = await open();
	const { id, title, startTime } = longest();
	/** As `2026-03-17 08.05`. */
	const inBerlin = (time: string) =>
		new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short', timeStyle: 'short' })
			.format(new Date(time))
			.replace(':', '.');
	await page.goto(`/lifelogs/${id}`);
	for (const [name, has, ending] of [
		['Markdown', `\n# ${title}\n`, '.md'],
		['JSON', `"id": "${id}"`, '.json'],
		['SRT subtitles', '-->', '.srt'],
		['WebVTT subtitles', 'WEBVTT', '.vtt'],
		['Audio', 'OggS', '.ogg'],
	]) {
		if (!(await page.locator('.menu[open]').count())) await page.click('.menu summary');
		const [download] = await Promise.all([
			page.waitForEvent('download'),
			page.locator('.menu li').getByText(name!, { exact: true }).click(),
		]);
		const file = download.suggestedFilename();
		expect(file).toMatch(new RegExp(`\\${ending}$`));
		if (name === 'Audio') expect(file).toBe(`${inBerlin(startTime)} ${title}.ogg`);
		expect(readFileSync(await download.path(), 'latin1')).toContain(has);
	}
	// It closes by Escape, and by a click beside it.
	const menu = page.locator('.actions .menu');
	expect(await menu.getAttribute('open')).toBeNull();
	await page.click('.menu summary');
	await page.keyboard.press('Escape');
	expect(await menu.getAttribute('open')).toBeNull();
	expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Download');
	await page.click('.menu summary');
	await page.click('h1');
	expect(await menu.getAttribute('open')).toBeNull();
});

test('a day can be downloaded as a zip, with keys, with its audio or without', async () => {
	const { page } = await open();
	await page.goto(`/days/${DAY}`);
	await page.waitForSelector('.entry');
	const count = await page.locator('.entry').count();
	for (const [key, hasAudio] of [
		['1', false],
		['2', true],
	] as const) {
		await page.keyboard.press('d');
		await page.waitForSelector('.menu[open]');
		expect(await findings(page)).toEqual([]);
		const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press(key)]);
		expect(download.suggestedFilename()).toBe(`${DAY}.zip`);
		const names = Object.keys(await unzip(readFileSync(await download.path())));
		expect(names.filter((name) => name.endsWith('.md'))).toHaveLength(count);
		expect(names.some((name) => name.endsWith('.ogg'))).toBe(hasAudio);
	}
});

test('with 1,000 days and 5,000 lifelogs, the calendar, a day, a lifelog and the search work', async () => {
	const folder = temporaryFolder();
	const [DAYS, OF_A_DAY] = [1_000, 5];
	const first = Date.parse('2023-06-01T08:00:00Z');
	const many = Array.from({ length: DAYS * OF_A_DAY }, (_, nth) => {
		const start = first + Math.floor(nth / OF_A_DAY) * DAY_MS + (nth % OF_A_DAY) * 600_000;
		return lifelogOf(`m${nth}`, new Date(start).toISOString(), { title: `Talk ${nth}` });
	});
	await writeArchive(folder, { lifelogs: many });
	const own = await pages.serve(folder, CHANGING);
	const { page } = await open(own);
	await page.goto('/status');
	await page.waitForSelector('.cards dd:has-text("5,000")');
	await page.keyboard.press('c');
	await page.waitForSelector('.month .day[data-day]');
	await page.keyboard.press('t');
	const newest = '2026-02-24';
	expect(
		await page.evaluate(
			() => document.activeElement?.closest<HTMLElement>('[data-day]')?.dataset.day,
		),
	).toBe(newest);
	await page.keyboard.press('Enter');
	await page.waitForURL(`**/days/${newest}`);
	await page.waitForSelector('.entry');
	expect(await page.locator('.entry').count()).toBe(OF_A_DAY);
	await page.click('.entry a');
	await page.waitForSelector('.transcript .said');
	await page.goto('/search?q=%22Talk+1234%22');
	await page.waitForSelector('.result mark');
	expect(await page.locator('.result').count()).toBe(1);
});

test('a lifelog can be starred and renamed', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [lifelogOf('a', '2026-03-01T12:00:00Z', { title: 'Plans' })],
	});
	const own = await pages.serve(folder, CHANGING);
	const read = async () => (await (await ask(own, '/v1/lifelogs/a')).json()).data?.lifelog;
	const { page } = await open(own);
	await page.goto('/lifelogs/a');
	await page.click('text=☆ Star');
	await page.waitForSelector('h1 .star');
	expect((await read()).isStarred).toBe(true);
	await page.click('.actions >> text=Rename');
	await page.waitForSelector('dialog[open]');
	expect(await findings(page)).toEqual([]);
	await page.fill('dialog input', 'Plans for spring');
	await page.keyboard.press('Enter');
	await page.waitForSelector('h1 >> text=Plans for spring');
	expect((await read()).title).toBe('Plans for spring');
});
