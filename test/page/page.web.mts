// The page of lifelog-server in Chromium, over an archive of its own. `npm run pictures` runs the tests
// that have "picture" in their name.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Lifelog } from '../../lifelog/api.ts';
import { makeLink } from '../../server/http/auth/link.mts';
import type { ConnectAnswer, NewKey } from '../../server/http/pageApi/answers.mts';
import { startBrowser } from '../n8n/support/browser.mts';
import { archiveSandbox, ask, temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { engineAt } from '../support/lab.mts';
import { serverKey, startLifelogServer, type SpawnedServer } from '../support/lifelogServer.mts';
import { startSandbox } from '../support/sandbox.mts';
import { makeTones } from '../support/tones.mts';
import { until } from '../support/soon.mts';
import { startTranscription } from '../support/transcription.mts';
import {
	lineStartMs,
	listen,
	LONG_TALK,
	secondOf,
	tone,
	writeLongTalk,
} from '../support/longTalk.mts';
import { findings, openPage } from '../support/openPage.mts';
import { keepPicture } from '../support/pictures.mts';
import { buildPage } from '../support/web.mts';
import { workflowWith } from '../support/workflow.mts';
import { HOSTILE } from './hostile.mts';

const ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;
const DAY = '2026-03-17';

let browser: Browser;
let server: SpawnedServer;
/** One that makes lifelogs of recordings. */
let recorder: SpawnedServer;
/** One of an empty archive. */
let empty: SpawnedServer;
let lifelogs: Lifelog[];

beforeAll(async () => {
	buildPage();
	browser = await startBrowser();
	const folder = temporaryFolder();
	const sandbox = await startSandbox({ days: 20, now: '2026-03-20T18:00:00Z' });
	const from = Date.parse(`${DAY}T00:00:00Z`) - DAY_MS / 2;
	const hours = Array.from({ length: 18 }, (_, nth) => from + nth * 7_200_000);
	await archiveSandbox(
		sandbox,
		folder,
		hours.map((startMs) => [startMs, startMs + 7_200_000] as const),
	);
	lifelogs = await sandbox.control.lifelogs();
	await sandbox.close();
	server = await serve(folder);
	recorder = await startLifelogServer(temporaryFolder(), [
		...['--timezone', ZONE, '--allow-changes'],
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
	]);
	empty = await startLifelogServer(temporaryFolder(), ['--timezone', ZONE]);
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
	await server?.close();
	await recorder?.close();
	await empty?.close();
	await browser?.close();
});

const serve = (folder: string) =>
	startLifelogServer(folder, ['--timezone', ZONE, '--allow-changes', '--allow-delete']);

const open = (of: Pick<SpawnedServer, 'url'> = server, options = {}) =>
	openPage(browser, of, { ...options, closing });

const inZone = new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short' });
const ofDay = (day: string) =>
	lifelogs.filter(({ startTime }) => inZone.format(new Date(startTime)) === day);
const longest = () =>
	ofDay(DAY).reduce((one, other) =>
		JSON.stringify(one.contents).length > JSON.stringify(other.contents).length ? one : other,
	);
const firstChat = async () =>
	(await (await ask(server, '/v1/chats?limit=1')).json()).data.chats[0].id as string;

/** Presses the key for today until the calendar, which listens a moment after it is shown, has heard it. */
const pressToday = async (page: Page) =>
	await until(async () => {
		await page.keyboard.press('t');
		return await page.evaluate(() => !!document.activeElement?.closest('[data-day]'));
	});

/** Keeps the picture of a view. */
async function pictureOf(page: Page, name: string, theme: 'light' | 'dark'): Promise<void> {
	await page.evaluate(() => scrollTo(0, 0));
	const taken = { png: await page.screenshot(), seen: await readIn(page) };
	keepPicture(`docs/images/web-${name}`, theme, taken);
}

/** What can be read without scrolling: each text by itself, and the fields. */
const readIn = (page: Page) =>
	page.evaluate(() => {
		const isSeen = ({ left, top, width, height }: DOMRect) =>
			width > 1 && height > 1 && top < innerHeight && left < innerWidth;
		const texts: string[] = [];
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (walker.nextNode()) {
			const range = document.createRange();
			range.selectNode(walker.currentNode);
			if (isSeen(range.getBoundingClientRect()))
				texts.push(...walker.currentNode.textContent!.split(' · '));
		}
		const fields = Array.from(document.querySelectorAll<HTMLInputElement>('input, textarea'))
			.filter((field) => isSeen(field.getBoundingClientRect()))
			.map(({ value, placeholder }) => value || placeholder);
		return [...texts, ...fields];
	});

/** Shows the same address, key and times on Connect each time, and no key of the tests. */
async function fixConnect(page: Page): Promise<void> {
	const at = `${DAY}T08:00:00.000Z`;
	await page.route('**/web/connect', async (route) => {
		const response = await route.fetch();
		const { keys, sessions } = (await response.json()) as ConnectAnswer;
		const json: ConnectAnswer = {
			publicUrl: 'http://127.0.0.1:8787',
			keys: keys.filter(({ isGiven }) => !isGiven).map((key) => ({ ...key, createdAt: at })),
			sessions: sessions.map((session) => ({ ...session, startedAt: at, usedAt: at })),
		};
		await route.fulfill({ response, json });
	});
	await page.route('**/web/keys', async (route) => {
		const response = await route.fetch();
		const made = (await response.json()) as NewKey;
		await route.fulfill({ response, json: { ...made, key: 'hS0x'.padEnd(43, 'Zk7Qw2Lr') } });
	});
}

/** The views, each by its address and what is there once it shows. */
const VIEWS: [name: string, address: () => string | Promise<string>, ready: string][] = [
	['add', () => '/', '.way form'],
	['calendar', () => '/', '.month .day[data-day]'],
	['day', () => `/days/${DAY}`, '.entry'],
	['lifelog', () => `/lifelogs/${longest().id}`, '.transcript .said'],
	['search', () => '/search?q=garden', '.result mark'],
	['chats', () => '/chats', '.rows a'],
	['chat', async () => `/chats/${await firstChat()}`, '.message .markdown'],
	['recordings', () => '/recordings', '.upload + p'],
	['status', () => '/status', '.facts'],
];

/** Lists, and what is in them, are gone through by Tab. */
const CONTROLS = ':is(button, input, select, summary):not(dialog *, .transcript *, .contents *)';

/** The keys that more than one of all that can be seen has. */
const repeatedKeys = (page: Page) =>
	page.evaluate(() => {
		const seen = Array.from(document.querySelectorAll('[aria-keyshortcuts]'))
			.filter((each) => each.checkVisibility())
			.map((each) => each.getAttribute('aria-keyshortcuts'));
		return seen.filter((key, at) => seen.indexOf(key) !== at);
	});

describe.each(VIEWS)('%s', (name, address, ready) => {
	const openIt = () => {
		const others: Record<string, SpawnedServer> = { add: empty, recordings: recorder };
		return open(others[name] ?? server);
	};

	test('every control has its own key, and the list of keys names it', async () => {
		const { page, wrong } = await openIt();
		await page.goto(await address());
		await page.waitForSelector(ready);
		await page.evaluate(() =>
			document
				.querySelectorAll<HTMLDetailsElement>('.menu, .more')
				.forEach((menu) => (menu.open = true)),
		);
		const keys = await page.evaluate((controls) => {
			const seen = Array.from(document.querySelectorAll(controls)).filter((each) =>
				each.checkVisibility(),
			);
			return seen.map((each) => each.getAttribute('aria-keyshortcuts') ?? each.outerHTML);
		}, CONTROLS);
		expect(keys.length).toBeGreaterThan(2);
		expect(keys.filter((key) => !/^(\S|Space|Delete|ArrowLeft ArrowRight)$/.test(key))).toEqual([]);
		expect(new Set(keys).size).toBe(keys.length);
		// To this one, the link in the header leads as well.
		expect(await repeatedKeys(page)).toEqual(name === 'search' ? ['/'] : []);
		await page.evaluate(() => (document.activeElement as HTMLElement).blur());
		await page.keyboard.press('?');
		await page.waitForSelector('dialog[open]');
		expect(await findings(page)).toEqual([]);
		const names = await page.locator('dialog dd').allTextContents();
		expect(names.length).toBeGreaterThanOrEqual(keys.length);
		expect(names.filter((each) => each.trim() === '')).toEqual([]);
		const listed = await page.locator('dialog kbd').allTextContents();
		expect(new Set(listed).size).toBe(listed.length);
		// Nothing happens behind the list.
		await page.keyboard.press('q');
		await page.keyboard.press('Escape');
		await page.waitForSelector('dialog', { state: 'detached' });
		expect(await page.locator('#key').count()).toBe(0);
		expect(wrong).toEqual([]);
	});

	test('opens by its address, light and dark, on a phone and on a desktop, with its picture', async () => {
		const { page, wrong } = await openIt();
		const path = await address();
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({ colorScheme });
			for (const width of [1280, 360]) {
				await page.setViewportSize({ width, height: width === 360 ? 740 : 860 });
				await page.goto(path);
				await page.waitForSelector(ready);
				if (name === 'day') {
					await page.click('.summary summary');
					await page.waitForSelector('.summary .markdown');
				}
				const of = `${name}, ${colorScheme}, ${width} px`;
				expect([of, await findings(page)]).toEqual([of, []]);
				const [inner, scroll] = await page.evaluate(() => [
					innerWidth,
					document.documentElement.scrollWidth,
				]);
				expect([of, scroll]).toEqual([of, inner]);
				// Recordings are pictured with some of them, below.
				if (width === 1280 && name !== 'recordings') await pictureOf(page, name, colorScheme);
			}
		}
		expect(new URL(page.url()).pathname).toBe(path.replace(/\?.*/, ''));
		expect(wrong).toEqual([]);
	});
});

test('a wrong key is refused, the right key signs in, and signing out ends the session', async () => {
	const { page, wrong, context } = await open(server, { isSignedIn: false });
	await page.goto(`/days/${DAY}`);
	await page.waitForSelector('#key');
	expect(wrong).toEqual([]);
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
	expect(wrong).toEqual([]);
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
	expect(wrong.filter((each) => !each.includes('401'))).toEqual([]);
});

test('clicks lead from the calendar to a lifelog and back, and to every view', async () => {
	const { page, wrong } = await open();
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
	expect(wrong).toEqual([]);
});

test('keys lead to every view', async () => {
	const { page, wrong } = await open();
	const focused = () =>
		page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-day]')?.dataset.day);
	await page.goto('/');
	await page.waitForSelector('.month .day[data-day]');
	await pressToday(page);
	const newest = await focused();
	expect(newest).toBe(inZone.format(new Date(lifelogs.at(-1)!.startTime)));
	await page.keyboard.press('ArrowLeft');
	const before = await focused();
	expect(before! < newest!).toBe(true);
	await page.keyboard.press('ArrowRight');
	expect(await focused()).toBe(newest);
	await page.keyboard.press('ArrowUp');
	expect(Date.parse(newest!) - Date.parse((await focused())!)).toBe(7 * DAY_MS);
	await page.keyboard.press('PageDown');
	expect((await focused())! < before!).toBe(true);
	await pressToday(page);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.entry');
	await page.keyboard.press('ArrowLeft');
	await page.waitForURL(`**/days/${before}`);
	for (const [key, ready] of [
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
	expect(wrong).toEqual([]);
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
	const { page, wrong } = await open();
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
	await page.keyboard.press('h');
	await page.waitForSelector('.rows');
	expect(wrong).toEqual([]);
});

test("the day's summary is the same as that of Get Daily Summary", async () => {
	const { page, context } = await open();
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	const engine = await engineAt(server);
	closing.push(() => engine.close());
	const result = await engine.runWorkflow(
		workflowWith('lifelog', {
			...{ operation: 'getDailySummary', day: 'date', date: DAY, format: 'markdown' },
			options: { timezone: ZONE },
		}),
	);
	const [{ json }] = result.items('Node');
	expect(json.markdown).toContain(longest().title);
	await page.goto(`/days/${DAY}`);
	await page.click('.summary summary');
	await page.click('text=Copy as Markdown');
	await expect(page.evaluate(() => navigator.clipboard.readText())).resolves.toBe(json.markdown);
});

test('a lifelog can be downloaded as Markdown, JSON, SRT, WebVTT and audio', async () => {
	const { page, wrong } = await open();
	const { id, title } = longest();
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
		expect(download.suggestedFilename()).toMatch(new RegExp(`\\${ending}$`));
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
	expect(wrong).toEqual([]);
});

describe('the player', () => {
	const START = Date.parse('2026-03-01T12:00:00Z');
	const LATER_MS = 600_000;
	/** What is said at seconds after the start, by the name of the second of the tone. */
	const LINES = [2.5, 10.5, 21.5, 600.5, 612.5, 625.5];
	const secondOfTone = (atS: number) => (atS < 600 ? atS : atS - 600 + 30);

	test('plays from the line that is chosen, also after a gap in the audio', async () => {
		const folder = temporaryFolder();
		const contents = LINES.map((atS) => ({
			...{ type: 'blockquote', content: `Tone ${secondOfTone(atS)}`, speakerName: 'Anna' },
			startTime: new Date(START + atS * 1000).toISOString(),
			endTime: new Date(START + atS * 1000 + 1000).toISOString(),
		}));
		await writeArchive(folder, {
			lifelogs: [
				lifelogOf('tones', new Date(START).toISOString(), {
					title: 'Tones',
					contents,
					endTime: new Date(START + LATER_MS + 30_000).toISOString(),
				}),
			],
			audio: [0, LATER_MS].map((atMs) => ({
				...{ startMs: START + atMs, endMs: START + atMs + 30_000 },
				content: tone(atMs === 0 ? 0 : 30, 30),
			})),
		});
		const own = await serve(folder);
		closing.push(() => own.close());
		const { page, wrong } = await open(own);
		await page.goto('/lifelogs/tones');
		await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) > 0);
		for (const nth of [3, 0, 5, 1, 4, 2]) {
			const wanted = secondOfTone(LINES[nth]);
			const began = page.evaluate(
				() =>
					new Promise<number>((resolve) => {
						const audio = document.querySelector('audio')!;
						audio.addEventListener('seeked', () => resolve(audio.currentTime), { once: true });
					}),
			);
			await page.locator('.playable').nth(nth).click();
			const atS = await began;
			const hertz = await page.evaluate(async (from) => {
				const bytes = await (await fetch('/web/audio/tones')).arrayBuffer();
				const context = new OfflineAudioContext(1, 48_000, 48_000);
				const samples = (await context.decodeAudioData(bytes)).getChannelData(0);
				const first = Math.round(from * 48_000);
				let crossings = 0;
				for (let at = first; at < first + 9600; at += 1) {
					if (samples[at] < 0 && samples[at + 1] >= 0) crossings += 1;
				}
				// In 0.2 s.
				return crossings * 5;
			}, atS);
			const heardS = secondOf(hertz) - 0.1;
			expect([wanted, Math.abs(heardS - wanted) < 0.2, heardS]).toEqual([wanted, true, heardS]);
			await page.waitForSelector(`.said[aria-current] >> text="Tone ${wanted}"`);
			expect(await page.evaluate(() => document.querySelector('audio')!.paused)).toBe(false);
		}
		const state = () =>
			page.evaluate(() => {
				const { paused, currentTime, playbackRate } = document.querySelector('audio')!;
				return { paused, currentTime, playbackRate };
			});
		await page.keyboard.press(' ');
		expect((await state()).paused).toBe(true);
		// The time of a line plays it, too, and keeps the focus.
		await page
			.getByRole('button', { name: /^Play from/ })
			.nth(2)
			.press('Enter');
		// It is the line that was played before.
		await page.waitForFunction(() => document.querySelector('audio')?.paused === false);
		await page.waitForSelector('.said[aria-current] >> text="Tone 21.5"');
		await page.keyboard.press(' ');
		const stopped = await state();
		expect(stopped.paused).toBe(true);
		await page.keyboard.press('f');
		expect((await state()).currentTime).toBeCloseTo(stopped.currentTime + 10, 1);
		await page.keyboard.press('b');
		await page.keyboard.press('ArrowLeft');
		expect((await state()).currentTime).toBeCloseTo(stopped.currentTime - 5, 1);
		await page.keyboard.press('ArrowRight');
		expect((await state()).currentTime).toBeCloseTo(stopped.currentTime, 1);
		await page.selectOption('.player select', '2');
		expect((await state()).playbackRate).toBe(2);
		await page.reload();
		await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) > 0);
		expect((await state()).playbackRate).toBe(2);
		expect(await page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe('Tones');
		// From the end of the third line to where the fourth begins, and nothing of what is between.
		await page.evaluate(() => {
			const positions: number[] = [];
			const audio = document.querySelector('audio')!;
			audio.addEventListener('timeupdate', () => positions.push(audio.currentTime));
			Object.assign(globalThis, { positions });
		});
		// A busy browser tells too late, at twice the speed, that a line has ended.
		await page.selectOption('.player select', '0.75');
		await page.check('.player input[type=checkbox]');
		await page.locator('.playable').nth(2).click();
		await page.waitForSelector('.said[aria-current] >> text="Tone 30.5"');
		const positions = await page.evaluate(
			() => (globalThis as unknown as { positions: number[] }).positions,
		);
		expect(positions.filter((each) => each > 21 && each < 40).length).toBeGreaterThan(1);
		expect(positions.filter((each) => each > 25 && each < 30)).toEqual([]);
		// A search opens at its line, from which it plays.
		await page.goto(`/lifelogs/tones?at=${START + LINES[4] * 1000}`);
		await page.waitForSelector('.said[aria-current] >> text="Tone 42.5"');
		await page.waitForFunction(() => (document.querySelector('audio')?.currentTime ?? 0) > 42);
		expect((await state()).paused).toBe(true);
		await page.click('.play');
		await page.waitForFunction(() => document.querySelector('audio')?.paused === false);
		expect((await state()).currentTime).toBeGreaterThan(42);
		// What is selected can be copied: a click that ends it plays nothing.
		await page.keyboard.press(' ');
		await page.locator('.said').first().selectText();
		await page.locator('.said').first().dispatchEvent('click');
		expect(await page.evaluate(() => String(getSelection()).trim())).toBe('Tone 2.5');
		expect((await state()).paused).toBe(true);
		expect(wrong).toEqual([]);
	});

	test('scrolls and plays 3 hours of 10,000 lines, and keeps fewer than 100 lines in the page', async () => {
		const folder = temporaryFolder();
		await writeLongTalk(folder);
		const own = await serve(folder);
		closing.push(() => own.close());
		const { page, wrong } = await open(own);
		await page.goto(`/lifelogs/${LONG_TALK.id}`);
		await page.waitForSelector('.playable');
		const goTo = async (share: number) => {
			await page.evaluate(
				(to) => scrollTo(0, to * (document.documentElement.scrollHeight - innerHeight)),
				share,
			);
			await page.waitForFunction(() => {
				const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
				return middle?.closest('.line') !== null;
			});
		};
		const lineInMiddle = () =>
			page.evaluate(() => {
				const lines = Array.from(document.querySelectorAll<HTMLElement>('[data-line]'));
				const seen = lines.filter((each) => each.getBoundingClientRect().top > innerHeight / 2);
				return Number(seen[0].dataset.line);
			});
		const positionMs = () =>
			page.evaluate(() => 1000 * document.querySelector('audio')!.currentTime);
		const play = async (line: number) => {
			await page.click(`[data-line="${line}"] .said`);
			await page.waitForSelector(`[data-line="${line}"] .said[aria-current]`);
		};
		await play(3);
		const heard = await listen(page);
		for (const share of [0.8, 0, 0.25, 1]) {
			await goTo(share);
			expect(await page.locator('.said').count()).toBeLessThan(100);
			const line = share === 1 ? LONG_TALK.lines - 9 : await lineInMiddle();
			expect(Math.abs(line / LONG_TALK.lines - share)).toBeLessThan(0.1);
			await play(line);
			const begunMs = await positionMs();
			expect(begunMs).toBeGreaterThan(lineStartMs(line) - 200);
			// What can be heard is what the position says, to 0.2 s.
			let offS = Infinity;
			for (let times = 1; times <= 50 && !(offS < 0.2); times += 1) {
				await page.waitForTimeout(100);
				const { hertz, positionS } = await heard();
				offS = Math.abs(secondOf(hertz) - (positionS % 60));
			}
			expect(offS).toBeLessThan(0.2);
		}
		// Where somebody reads meanwhile, the page stays.
		await goTo(0.5);
		const before = await lineInMiddle();
		const fromMs = await positionMs();
		await page.waitForFunction(
			(ms) => 1000 * document.querySelector('audio')!.currentTime > ms + 2500,
			fromMs,
		);
		expect(await lineInMiddle()).toBe(before);
		// And follows again from where something is played.
		await play(before);
		await page.fill('.player input[type=range]', '600');
		await page.waitForSelector('.said[aria-current] >> text=/^Line 55\\d of/');
		expect(wrong).toEqual([]);
	});
});

test('with 50,000 lifelogs, the calendar, a day, a lifelog and the search work', async () => {
	const folder = temporaryFolder();
	const [DAYS, OF_A_DAY] = [1_000, 50];
	const first = Date.parse('2023-06-01T08:00:00Z');
	const many = Array.from({ length: DAYS * OF_A_DAY }, (_, nth) => {
		const start = first + Math.floor(nth / OF_A_DAY) * DAY_MS + (nth % OF_A_DAY) * 600_000;
		return lifelogOf(`m${nth}`, new Date(start).toISOString(), { title: `Talk ${nth}` });
	});
	await writeArchive(folder, { lifelogs: many });
	const own = await serve(folder);
	closing.push(own.close);
	const { page, wrong } = await open(own);
	await page.goto('/status');
	await page.waitForSelector('.cards dd:has-text("50,000")');
	await page.keyboard.press('c');
	await page.waitForSelector('.month .day[data-day]');
	await pressToday(page);
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
	await page.goto('/search?q=%22Talk+12345%22');
	await page.waitForSelector('.result mark');
	expect(await page.locator('.result').count()).toBe(1);
	expect(wrong).toEqual([]);
});

test('a new key is shown beside its address (with a picture)', async () => {
	const folder = temporaryFolder();
	const own = await startLifelogServer(folder, ['--timezone', ZONE]);
	closing.push(own.close);
	const index = join(folder, '.lifelog-index.sqlite');
	const { page, wrong } = await open(own, { isSignedIn: false });
	await fixConnect(page);
	await page.goto(`/connect#link=${makeLink(index, `${index}.key`, Date.now())}`);
	await page.click('section[aria-label="New key"] >> text="n8n"');
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('.notice .copied');
	await page.waitForSelector('[aria-label="Remove n8n"]');
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		expect([colorScheme, await findings(page)]).toEqual([colorScheme, []]);
		await pictureOf(page, 'connect', colorScheme);
	}
	expect(wrong).toEqual([]);
});

test('recordings can be uploaded (with a picture), dropped on the page, retried, and opened', async () => {
	const endpoint = await startTranscription();
	closing.push(endpoint.close);
	const files = temporaryFolder();
	const [memo, text, dropped] = ['memo.m4a', 'text.mp3', 'dropped.wav'].map((name) =>
		join(files, name),
	);
	await makeTones(memo, { seconds: 5 });
	// So that its picture is the same each time.
	const recordedAt = new Date(`${DAY}T08:00:00Z`);
	utimesSync(memo, recordedAt, recordedAt);
	await makeTones(dropped, { seconds: 3 });
	writeFileSync(text, 'no sound');
	const own = await startLifelogServer(temporaryFolder(), [
		...['--timezone', ZONE, '--allow-changes', '--allow-delete'],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	closing.push(own.close);
	const { page, wrong } = await open(own);
	await page.goto('/');
	await page.waitForSelector('nav');
	await page.keyboard.press('r');
	await page.waitForURL('**/recordings');
	await page.setInputFiles('input[type=file]', [memo, text]);
	await page.waitForSelector('.recording.done');
	const failed = page.locator('.recording.failed');
	await failed.waitFor();
	expect(await failed.locator('.notice').textContent()).toMatch(/\w+/);
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: width === 360 ? 740 : 860 });
			expect([colorScheme, width, await findings(page)]).toEqual([colorScheme, width, []]);
			const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
			expect(scroll).toBe(width);
		}
		await pictureOf(page, 'recordings', colorScheme);
	}
	await page.evaluate(
		(content) => {
			const transfer = new DataTransfer();
			const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
			transfer.items.add(new File([bytes], 'dropped.wav', { lastModified: 1_772_366_403_000 }));
			document
				.querySelector('.upload')!
				.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
		},
		readFileSync(dropped, 'base64'),
	);
	await page.waitForSelector('.recording.done:has-text("dropped.wav")');
	const { recordings } = (await (await ask(own, '/v1/recordings')).json()).data;
	expect(recordings[0].startTime).toBe('2026-03-01T12:00:00.000Z');
	const [retried] = await Promise.all([
		page.waitForResponse((response) => response.url().endsWith('/retry')),
		failed.getByRole('button', { name: 'Retry text.mp3' }).click(),
	]);
	expect((await retried.json()).data.recording.status).toBe('queued');
	await failed.waitFor();
	expect(await repeatedKeys(page)).toEqual([]);
	await failed.getByRole('button', { name: 'Discard text.mp3' }).click();
	expect(await findings(page)).toEqual([]);
	await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
	await page.waitForSelector('dialog', { state: 'detached' });
	expect(await failed.count()).toBe(1);
	await failed.getByRole('button', { name: 'Discard text.mp3' }).click();
	await page.locator('dialog').getByRole('button', { name: 'Discard' }).click();
	await failed.waitFor({ state: 'detached' });
	await page.click('.recording:has-text("memo.m4a") a');
	await page.waitForSelector('.transcript .said');
	expect(await page.locator('.transcript .said').count()).toBe(5);
	expect(wrong).toEqual([]);
});

test('a lifelog can be starred and renamed, its speakers renamed, and deleted by typing its title', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			lifelogOf('a', '2026-03-01T12:00:00Z', { title: 'Plans' }),
			lifelogOf('b', '2026-03-01T14:00:00Z'),
		],
	});
	const own = await serve(folder);
	closing.push(() => own.close());
	const read = async () => (await (await ask(own, '/v1/lifelogs/a')).json()).data?.lifelog;
	const { page, wrong } = await open(own);
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
	await page.click('.actions >> text=Speakers');
	await page.fill('dialog input', 'Hanna');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.speaker >> text=Hanna');
	expect(JSON.stringify((await read()).contents)).toContain('"speakerName":"Hanna"');
	await page.click('.actions >> text=Delete');
	expect(await findings(page)).toEqual([]);
	const button = page.locator('dialog button[type=submit]');
	await page.fill('dialog input', 'Plans');
	expect(await button.isDisabled()).toBe(true);
	await page.keyboard.press('Escape');
	await page.waitForSelector('dialog', { state: 'detached' });
	expect(await read()).toBeDefined();
	await page.click('.actions >> text=Delete');
	await page.fill('dialog input', 'Plans for spring');
	const entries = await page.evaluate(() => history.length);
	await button.click();
	await page.waitForURL('**/days/2026-03-01');
	await page.waitForSelector('.entry');
	expect(await page.locator('.entry').count()).toBe(1);
	expect(await page.evaluate(() => document.activeElement!.id)).toBe('main');
	// Where it was, nothing is.
	expect(await page.evaluate(() => history.length)).toBe(entries);
	expect(await read()).toBeUndefined();
	expect(wrong).toEqual([]);
});

test('markup in lifelogs and chats is shown as text', async () => {
	const folder = temporaryFolder();
	const startTime = '2026-03-01T12:00:00Z';
	const node = (type: string, content: string) => ({ type, content, speakerName: content });
	const all = HOSTILE.join(' ');
	await writeArchive(folder, {
		lifelogs: HOSTILE.map((markup, nth) =>
			lifelogOf(`h${nth}`, new Date(Date.parse(startTime) + nth * 300_000).toISOString(), {
				title: markup,
				contents:
					nth === 0
						? HOSTILE.flatMap((each) => [
								node('heading2', each),
								node('blockquote', `word ${each}`),
							])
						: [node('heading2', markup), node('blockquote', `word ${markup}`)],
			}),
		),
		chats: HOSTILE.map((markup, nth) => {
			const chat = chatOf(`c${nth}`, startTime);
			const texts = nth === 0 ? [...HOSTILE, all] : [markup];
			return {
				...chat,
				summary: markup,
				messages: texts.map((text, at) => ({
					...chat.messages[at % 2],
					...{ id: `m${at}`, text, user: { role: 'user' as const, name: markup } },
				})),
			};
		}),
	});
	const own = await startLifelogServer(folder, [
		...['--timezone', ZONE, '--allow-changes', '--allow-delete'],
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
	]);
	closing.push(() => own.close());
	const plain = HOSTILE.filter((each) => /^[^/"\n]{1,100}$/.test(each));
	for (const name of [...plain.slice(0, 5), 'memo\u202egpj']) {
		const body = new FormData();
		body.set('file', new File([`no sound ${name}`], `${name}.mp3`));
		const headers = { 'x-api-key': serverKey };
		const answer = await fetch(`${own.url}/v1/recordings`, { method: 'POST', headers, body });
		expect([name, answer.status]).toEqual([name, 202]);
	}
	const { page, wrong } = await open(own);
	const visit = async (path: string, ready: string) => {
		await page.goto(path);
		await page.waitForSelector(ready);
		if (path.startsWith('/days')) {
			await page.click('.summary summary');
			await page.waitForSelector('.summary .markdown');
		}
		if (path === '/recordings') {
			await page.getByRole('button', { name: /^Discard memo.?gpj/ }).click();
			await page.waitForSelector('dialog[open]');
		}
		// Hovering and focusing run handlers, if there are any.
		await page.mouse.move(640, 300);
		await page.keyboard.press('Tab');
		const found = await page.evaluate(() => ({
			ran: (globalThis as { hacked?: unknown }).hacked,
			elements: Array.from(
				document.querySelectorAll(
					'main :is(script, style, img, iframe, object, embed, video, base, meta, link, form:not(.search, dialog > form), math, template, svg:not(.bar svg))',
				),
			).map(({ outerHTML }) => outerHTML),
			handlers: Array.from(document.querySelectorAll('*'))
				.flatMap((element) => Array.from(element.attributes).map(({ name }) => name))
				.filter((name) => /^on|^srcdoc$/.test(name)),
			links: Array.from(document.querySelectorAll('main a'))
				.map((link) => link.getAttribute('href')!)
				.filter((href) => !/^\/(days|lifelogs|chats)\/[\w-]+(\?at=\d+)?$/.test(href))
				.filter((href) => !/^\/v1\/recordings\/[\w-]+\/audio$/.test(href)),
			// Bidirectional characters turn nothing around beyond their own text.
			unkept: Array.from(document.querySelectorAll('main *'))
				.filter((element) =>
					Array.from(element.childNodes).some(
						({ nodeType, nodeValue }) => nodeType === 3 && /[\u202a-\u202e]/.test(nodeValue!),
					),
				)
				.filter((element) => !element.closest('bdi, .markdown, .result p'))
				.map(({ outerHTML }) => outerHTML),
		}));
		expect([path, found]).toEqual([
			path,
			{ ran: undefined, elements: [], handlers: [], links: [], unkept: [] },
		]);
		expect(new URL(page.url()).origin).toBe(own.url);
	};
	await visit('/', '.month .day[data-day]');
	await visit('/days/2026-03-01', '.entry');
	expect(await page.locator('.entry h2 bdi').first().textContent()).toBe(HOSTILE[0]);
	await visit('/lifelogs/h0', '.transcript .said');
	for (let nth = 1; nth < HOSTILE.length; nth += 9) {
		await visit(`/lifelogs/h${nth}`, '.transcript .said');
		await visit(`/chats/c${nth}`, '.message');
	}
	await visit('/search?q=word', '.result');
	await visit('/chats', '.rows');
	await visit('/chats/c0', '.message');
	await visit('/recordings', '.recording.failed >> text=memo');
	expect(wrong).toEqual([]);
});
