// Every view of lifelog-server's page in Chromium. `npm run pictures` runs the tests that have "picture" in
// their name.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Lifelog } from '../../lifelog/api.ts';
import { makeLink } from '../../server/http/auth/link.mts';
import type { ConnectAnswer, NewKey } from '../../server/http/pageApi/answers.mts';
import { ask, temporaryFolder } from '../server/sources.mts';
import { startLifelogServer, type SpawnedServer } from '../support/lifelogServer.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription } from '../support/transcription.mts';
import { findings, usePages } from '../support/openPage.mts';
import { keepPicture } from '../support/pictures.mts';
import { CHANGING, DAY, longestOf, serveDays, ZONE } from './days.mts';

let server: SpawnedServer;
/** One that makes lifelogs of recordings. */
let recorder: SpawnedServer;
/** One of an empty archive. */
let empty: SpawnedServer;
let lifelogs: Lifelog[];

beforeAll(async () => {
	({ server, lifelogs } = await serveDays());
	recorder = await startLifelogServer(temporaryFolder(), [
		...['--timezone', ZONE, '--allow-changes'],
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
	]);
	empty = await startLifelogServer(temporaryFolder(), ['--timezone', ZONE]);
});

afterAll(async () => {
	await server?.close();
	await recorder?.close();
	await empty?.close();
});

const { closing, open, serve } = usePages();

const longest = () => longestOf(lifelogs);
const firstChat = async () =>
	(await (await ask(server, '/v1/chats?limit=1')).json()).data.chats[0].id as string;

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
	['people', () => '/people', '.people li'],
	['chats', () => '/chats', '.rows a'],
	['chat', async () => `/chats/${await firstChat()}`, '.message .markdown'],
	['recordings', () => '/recordings', '.upload + p'],
	['status', () => '/status', '.facts'],
];

/** Lists, and what is in them, are gone through by Tab. */
const CONTROLS =
	':is(button, input, select, summary):not(dialog *, .transcript *, .contents *, .people *)';

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
		const { page } = await openIt();
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
	});

	test('opens by its address, light and dark, on a phone and on a desktop, with its picture', async () => {
		const { page } = await openIt();
		const path = await address();
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({ colorScheme });
			for (const width of [1280, 360]) {
				await page.setViewportSize({ width, height: width === 360 ? 740 : 860 });
				await page.goto(path);
				await page.waitForSelector(ready);
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
	});
});

test('a speaker is named beside the transcript (with a picture)', async () => {
	const { page } = await open(server);
	await page.goto(`/lifelogs/${longest().id}`);
	await page.waitForSelector('.player');
	await page.keyboard.press('n');
	const field = page.getByRole('dialog', { name: 'Name a speaker' });
	await field.locator('datalist option').first().waitFor({ state: 'attached' });
	const speakers = await field.getByLabel('Speaker').locator('option').allTextContents();
	await field.getByLabel('Speaker').selectOption(speakers.find((name) => name !== 'You')!);
	await field.getByLabel(/Everywhere \(\d+ lifelogs\)/).waitFor();
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		expect([colorScheme, await findings(page)]).toEqual([colorScheme, []]);
		await pictureOf(page, 'speaker', colorScheme);
	}
});

test('words of a line are corrected in all lifelogs (with a picture)', async () => {
	const { page } = await open(server);
	const { id, contents } = longest();
	const { content } = contents.find(({ content }) => content.includes('percent'))!;
	await page.goto(`/lifelogs/${id}`);
	const line = page.locator('.line').filter({ hasText: content });
	await line.hover();
	await line.getByRole('button', { name: /^Edit the line/ }).click();
	await page.getByLabel('Text').fill(content.replace('percent', 'per cent'));
	await page.keyboard.press('Enter');
	await page.locator('.offer button').first().click();
	const dialog = page.getByRole('dialog', { name: 'Correct in all lifelogs' });
	await dialog.getByText(/^\d+ lines? in \d+ lifelogs?$/).waitFor();
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		expect([colorScheme, await findings(page)]).toEqual([colorScheme, []]);
		await pictureOf(page, 'words', colorScheme);
	}
	await page.keyboard.press('Escape');
	await dialog.waitFor({ state: 'detached' });
	await page.locator('.line').filter({ hasText: 'per cent' }).hover();
	await page.keyboard.press('i');
	await page.getByRole('button', { name: 'As recorded' }).click();
	await page.waitForSelector('.line-form', { state: 'detached' });
});

test('a new key is shown beside its address (with a picture)', async () => {
	const folder = temporaryFolder();
	const own = await serve(folder, ['--timezone', ZONE]);
	const index = join(folder, '.lifelog-index.sqlite');
	const { page } = await open(own, { isSignedIn: false });
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
	const own = await serve(temporaryFolder(), [
		...CHANGING,
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	const { page } = await open(own);
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
});
