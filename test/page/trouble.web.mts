// The page of lifelog-server in Chromium where something is slow, fails or is unusual.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Lifelog } from '../../lifelog/api.ts';
import {
	ask,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { tone } from '../support/longTalk.mts';
import { findings, usePages } from '../support/openPage.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription } from '../support/transcription.mts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;
const at = (minutes: number) => new Date(NOON + minutes * MINUTE_MS).toISOString();
const ranging = (id: string, from: number, to: number, more: Partial<Lifelog> = {}) =>
	lifelogOf(id, at(from), { endTime: at(to), ...more });
const line = (content: string, speakerName: string | null, minutes = 0) => ({
	...{ type: 'blockquote', content, speakerName },
	...{ startTime: at(minutes), endTime: at(minutes + 0.1) },
});

const LIFELOGS = [
	lifelogOf('spring', '2026-03-29T12:00:00Z'),
	ranging('long', 0, 240, {
		title: 'Plans  for\nspring',
		contents: [
			...[line('One', 'Anna', 0), line('Two', null, 0.1), line('Three', 'Ben', 0.2)],
			...Array.from({ length: 40 }, (_, nth) => line(`Line ${nth}`, 'Anna', 0.3 + nth / 1_000)),
		],
	}),
	ranging('within', 30, 40, { contents: [line('Nobody is named', null)] }),
	ranging('later', 60, 70),
	ranging('evening', 360, 370),
	// Without an end.
	ranging('instant', -40_000, -40_000),
	...Array.from({ length: 25 }, (_, nth) =>
		lifelogOf(`r${nth}`, '2026-02-10T12:00:00Z', { title: `R&D 100% of talk ${nth}` }),
	),
];
const CHATS = Array.from({ length: 60 }, (_, nth) => chatOf(`c${nth}`, at(nth)));

let server: SpawnedServer;

beforeAll(async () => {
	const folder = temporaryFolder();
	const audio = [NOON, Date.parse('2026-03-05T12:00:00Z')].map((startMs) => ({
		...{ startMs, endMs: startMs + 30_000, content: tone(0, 30) },
	}));
	await writeArchive(folder, { lifelogs: LIFELOGS, chats: CHATS, audio });
	server = await startLifelogServer(folder, [
		...['--timezone', 'Europe/Berlin', '--allow-changes', '--allow-delete'],
	]);
});
afterAll(async () => {
	await server?.close();
});

const { browser, closing, ...pages } = usePages();
const open = (of = server) => pages.open(of);

/** Opens the page of another server, over an archive with these entries. */
async function openOver(archive: Parameters<typeof writeArchive>[1], options: string[] = []) {
	const folder = temporaryFolder();
	await writeArchive(folder, archive);
	return await open(await pages.serve(folder, options));
}

/** Has the next requests of a method for a path fail. */
async function breaks(page: Page, path: string, method: string, times = 1): Promise<void> {
	let left = times;
	await page.route(path, (route) => {
		if (route.request().method() !== method || left === 0) return route.fallback();
		left -= 1;
		return route.abort();
	});
}
const NO_ANSWER = "text=The server isn't responding";
/** The browser itself logs requests that fail. */
const beside = (wrong: string[]) => wrong.filter((each) => !/ERR_FAILED|401/.test(each));

test('an address with an invalid day shows "Not found"', async () => {
	const { page } = await open();
	for (const day of ['2026-13-45', '2026-02-30', 'today']) {
		await page.goto(`/days/${day}`);
		await page.waitForSelector('h1:text("Not found")');
	}
	await page.click('main a');
	await page.waitForSelector('.months');
});

test('an unknown address shows "Not found" and a link to the calendar', async () => {
	const { page, wrong } = await open();
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [1280, 360]) {
			await page.setViewportSize({ width, height: 740 });
			const answer = await page.goto('/2026-99-99');
			expect(answer!.status()).toBe(404);
			await page.waitForSelector('h1:text("Not found")');
			expect([colorScheme, width, await findings(page)]).toEqual([colorScheme, width, []]);
		}
	}
	await page.click('main a');
	await page.waitForSelector('.months');
	// The browser logs each 404 itself.
	expect(wrong.splice(0).filter((each) => !each.includes('404'))).toEqual([]);
});

test('saving the same name of a speaker sends nothing, and the focus is back at once', async () => {
	const { page } = await open();
	const changes: string[] = [];
	page.on('request', (request) => {
		if (request.method() === 'PATCH') changes.push(request.postData()!);
	});
	await page.goto('/lifelogs/long');
	await page.waitForSelector('.speaker');
	expect(await page.locator('.speaker bdi').allTextContents()).toEqual(
		expect.arrayContaining(['Anna', 'Unknown', 'Ben']),
	);
	await page.focus('.actions >> text=Speakers');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog[open]');
	expect(await page.locator('dialog input').first().inputValue()).toBe('Anna');
	// Before the next paint: a key that is pressed then must not miss.
	const focused = await page.evaluate(async () => {
		document.querySelector<HTMLButtonElement>('dialog [type=submit]')!.click();
		for (let turns = 0; turns < 100; turns++) await Promise.resolve();
		return [document.querySelector('dialog'), document.activeElement!.textContent];
	});
	expect(focused).toEqual([null, 'Speakers']);
	expect(changes).toEqual([]);
});

test("if a lifelog can't be read again, it stays on the page and its audio keeps playing", async () => {
	const { page, wrong } = await open();
	await page.goto('/lifelogs/long');
	await page.click('.playable >> nth=0');
	await page.waitForFunction(() => document.querySelector('audio')?.paused === false);
	await page.evaluate(() => document.querySelector('audio')!.classList.add('same'));
	await breaks(page, '**/v1/lifelogs/long', 'GET');
	await page.click('text=☆ Star');
	await page.waitForSelector(NO_ANSWER);
	expect(await findings(page)).toEqual([]);
	expect(await page.evaluate(() => document.querySelector<HTMLAudioElement>('.same')!.paused)).toBe(
		false,
	);
	await page.keyboard.press('a');
	await page.waitForSelector(NO_ANSWER, { state: 'detached' });
	await page.waitForSelector('h1 .star');
	expect(await page.locator('audio.same').count()).toBe(1);
	expect(beside(wrong.splice(0))).toEqual([]);
});

test('pausing while the audio loads shows no error', async () => {
	const { page } = await open();
	await page.route('**/web/audio/**', async (route) => {
		await sleep(1_000);
		// The test may be over.
		await route.continue().catch(() => {});
	});
	await page.goto('/lifelogs/long');
	await page.waitForSelector('.player');
	await page.keyboard.press(' ');
	await page.keyboard.press(' ');
	await page.waitForTimeout(500);
	expect(await page.textContent('.player .problem')).toBe('');
	await page.click('.play');
	await page.waitForFunction(() => (document.querySelector('audio')?.currentTime ?? 0) > 0);
});

test("the player doesn't cover the focused element", async () => {
	const { page } = await open();
	await page.setViewportSize({ width: 700, height: 500 });
	await page.goto('/lifelogs/long');
	await page.locator('button.time').first().focus();
	for (let nth = 0; nth < 20; nth += 1) {
		await page.keyboard.press('ArrowDown');
		// The page may scroll only after the key.
		await page.waitForFunction(() => {
			const line = document.activeElement!.getBoundingClientRect();
			return line.bottom <= document.querySelector('.player')!.getBoundingClientRect().top;
		});
	}
});

test('a day shows its gaps, and a day with only audio says so', async () => {
	const { page } = await open();
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.entry');
	expect(await page.locator('.gap').allTextContents()).toEqual(['2 h without a lifelog']);
	await page.goto('/days/2026-03-05');
	await page.waitForSelector('text=This day has audio, but no lifelogs.');
	expect(await page.locator('.bar .heard').count()).toBe(1);
	await page.goto('/days/2026-03-06');
	await page.waitForSelector('text=This day has no lifelogs.');
	// Clocks go forward at 02:00: a quarter of this day isn't six hours.
	await page.goto('/days/2026-03-29');
	await page.waitForSelector('.entry');
	const labels = (await page.locator('.hours span').allTextContents()).map((each) =>
		each.replace(/\s/g, ' '),
	);
	expect(labels).toEqual(['12:00 AM', '6:45 AM', '12:30 PM', '6:15 PM']);
	await page.goto('/status');
	await page.waitForSelector('h2:text("Missing days (UTC)") ~ ul >> text=/ to /');
});

test("a day's shade depends only on its own hours, and links lead to the years", async () => {
	const of = (day: string, minutes: number) =>
		lifelogOf(day, `${day}T12:00:00Z`, {
			endTime: new Date(Date.parse(`${day}T12:00:00Z`) + minutes * MINUTE_MS).toISOString(),
		});
	const days = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2025-03-05'];
	const minutes = [59, 176, 356, 536, 537];
	const lifelogs = days.map((day, nth) => of(day, minutes[nth]));
	const { page } = await openOver({ lifelogs }, ['--timezone', 'Europe/Berlin']);
	await page.goto('/');
	for (const [nth, day] of days.entries()) {
		await page.waitForSelector(`.shade-${nth + 1}[data-day="${day}"]`);
	}
	// A figure and its shade say the same.
	expect(await page.locator('.figure').allTextContents()).toEqual([
		...['59 m', '2.9 h', '5.9 h', '8.9 h', '9 h'],
	]);
	expect(await page.locator('.legend li').count()).toBe(6);
	await page.setViewportSize({ width: 400, height: 400 });
	await page.click('.years >> text=2025');
	await page.waitForFunction(() => scrollY > 100);
	expect(await findings(page)).toEqual([]);
});

test('a day is shaded even if its lifelogs have no length', async () => {
	const { page } = await openOver({ lifelogs: [ranging('instant', 0, 0)] });
	await page.goto('/');
	await page.waitForSelector('.day.shade-1');
});

test("the copy button is missing if the browser can't copy", async () => {
	const { page } = await open();
	// As over plain HTTP.
	await page.addInitScript(() =>
		Object.defineProperty(navigator, 'clipboard', { value: undefined }),
	);
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.summary li a');
	expect(await page.locator('text=Copy as Markdown').count()).toBe(0);
});

test('a new view starts at its top, and the search focuses its field each time', async () => {
	const { page } = await open();
	await page.setViewportSize({ width: 700, height: 400 });
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.entry');
	expect(await page.evaluate(() => document.activeElement!.id)).toBe('');
	await page.locator('.entry a >> nth=3').click();
	await page.waitForURL('**/lifelogs/**');
	expect(await page.evaluate(() => [scrollY, document.activeElement!.id])).toEqual([0, 'main']);
	await page.keyboard.press('h');
	await page.waitForSelector('.rows');
	const outline = () => page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
	expect(await outline()).toBe('none');
	for (let times = 1; times <= 2; times += 1) {
		await page.keyboard.press('/');
		await page.waitForSelector('input[type=search]:focus');
		await page.click('header nav >> text=Chats');
		await page.waitForSelector('.rows');
		expect(await page.evaluate(() => document.activeElement!.id)).toBe('main');
	}
	await page.goBack();
	await page.waitForSelector('.search');
});

test('going back shows the same content at the same scroll position, without waiting', async () => {
	const { page } = await open();
	await page.setViewportSize({ width: 700, height: 400 });
	const isAt = (place: number) =>
		page.waitForFunction((to) => Math.abs(scrollY - to) < 2, place, { timeout: 10_000 });
	await page.goto('/days/2026-02-10');
	await page.waitForSelector('.entry');
	await page.evaluate(() => scrollTo(0, 1_000));
	await page.locator('.entry a >> nth=12').click();
	await page.waitForSelector('.head');
	const left = await page.evaluate(() => scrollY);
	expect(left).toBe(0);
	// Even while the server says nothing.
	let answer!: () => void;
	const answered = new Promise<void>((resolve) => (answer = resolve));
	await page.route('**/web/days/*', async (route) => {
		await answered;
		await route.continue().catch(() => {});
	});
	await page.goBack();
	await page.waitForSelector('.entry');
	await page.waitForFunction(() => scrollY > 500);
	answer();
	await page.goto('/search?q=R%26D+100%25');
	await page.waitForSelector('.result');
	await page.click('text=Show more');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 25);
	await page.evaluate(() => scrollTo(0, 900));
	await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
	await page
		.locator('.result a[data-entry] >> nth=22')
		.evaluate((link: HTMLElement) => link.click());
	await page.waitForSelector('.head');
	await page.goBack();
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 25);
	await isAt(900);
	expect(await page.textContent('[role=status]')).toBe('25 lifelogs found');
	// A new view begins at its top.
	await page.click('header nav >> text=Chats');
	await isAt(0);
	// A transcript, of which only what is seen is in the page.
	await page.goto('/lifelogs/long');
	await page.waitForSelector('.line');
	// What comes later moves the lines.
	await page.waitForLoadState('networkidle');
	await page.evaluate(() => scrollTo(0, 600));
	await page.waitForTimeout(200);
	const read = await page.evaluate(() => scrollY);
	expect(read).toBeGreaterThan(400);
	const firstSeen = () =>
		page.evaluate(() => {
			const lines = Array.from(document.querySelectorAll('.line'));
			return lines.find((each) => each.getBoundingClientRect().top > 0)?.textContent;
		});
	const line = await firstSeen();
	expect(line).toContain('Line');
	await page.keyboard.press('c');
	await page.waitForSelector('.months');
	await page.goBack();
	await page.waitForSelector('.line');
	await isAt(read);
	expect(await firstSeen()).toBe(line);
});

test('the old results stay until the new ones arrive', async () => {
	const { page } = await open();
	let answer = () => {};
	const hold = () => new Promise<void>((resolve) => (answer = resolve));
	let held = hold();
	await page.route('**/web/search?*', async (route) => {
		await held;
		await route.continue().catch(() => {});
	});
	await page.goto('/search?q=talk');
	const loading = page.locator('main .loading');
	await loading.waitFor({ state: 'attached' });
	// It appears after a moment, so that nothing blinks.
	expect(await loading.evaluate((each) => getComputedStyle(each).animationDelay)).toBe('0.3s');
	await loading.waitFor({ state: 'visible' });
	answer();
	await page.waitForSelector('.result');
	held = hold();
	await page.fill('input[type=search]', 'talk 7');
	await page.waitForURL('**/search?q=talk+7');
	expect(await page.locator('.result').count()).toBe(20);
	expect(await loading.count()).toBe(0);
	answer();
	await page.waitForFunction(() => document.querySelectorAll('.result').length < 20);
});

test('a search keeps every character, shows how many lifelogs it found, and reports a failure', async () => {
	const { page, wrong } = await open();
	await page.goto('/search');
	const outcome = page.locator('[role=status]');
	expect(await outcome.textContent()).toBe('');
	await page.waitForTimeout(500);
	expect(page.url()).toMatch(/\/search$/);
	await page.check('.search input[type=checkbox]');
	await page.waitForSelector(
		'[role=status] >> text=/No lifelogs pass these filters|1 lifelog found/',
	);
	await page.uncheck('.search input[type=checkbox]');
	// Slower than the pause after which it searches.
	await page.locator('input[type=search]').pressSequentially('R&D 100%', { delay: 120 });
	await page.waitForTimeout(1_000);
	expect(await page.inputValue('input[type=search]')).toBe('R&D 100%');
	expect(new URL(page.url()).searchParams.get('q')).toBe('R&D 100%');
	await page.waitForSelector('.result mark');
	expect(await page.locator('.result h2 mark').first().textContent()).toBe('R');
	expect(await outcome.textContent()).toBe('More than 20 lifelogs found');
	expect(await findings(page)).toEqual([]);
	await breaks(page, '**/web/search?*', 'GET');
	await page.click('text=Show more');
	await page.waitForSelector(NO_ANSWER);
	expect(await page.locator('.result').count()).toBe(20);
	await page.click('text=Show more');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 25);
	expect(await page.locator(NO_ANSWER).count()).toBe(0);
	expect(await outcome.textContent()).toBe('25 lifelogs found');
	await page.reload();
	await page.waitForSelector('.result mark');
	await page.fill('input[type=search]', 'nothingofthekind');
	await page.waitForSelector('[role=status] >> text=Nothing found for “nothingofthekind”');
	expect(beside(wrong.splice(0))).toEqual([]);
});

test('if more chats, a download or a sign-out fails, the page says so', async () => {
	const { page, wrong } = await open();
	await page.goto('/chats');
	await page.waitForSelector('.rows');
	await breaks(page, '**/v1/chats?*', 'GET');
	await page.click('text=Show more');
	await page.waitForSelector(NO_ANSWER);
	await page.click('text=Show more');
	await page.waitForFunction(() => document.querySelectorAll('.rows li').length === 60);
	await breaks(page, '**/session', 'DELETE');
	await page.click('header summary');
	await page.click('text=Sign out');
	await page.click('dialog button[type=submit]');
	await page.waitForSelector(`dialog >> ${NO_ANSWER}`);
	await page.goto('/lifelogs/later');
	await page.click('.menu summary');
	await breaks(page, '**/assets/**', 'GET');
	// After an upgrade, the scripts of the new page are loaded. If that doesn't help, it's told.
	await Promise.all([page.waitForEvent('load'), page.click('.menu >> text=JSON')]);
	await page.click('.menu summary');
	await breaks(page, '**/assets/**', 'GET');
	await page.click('.menu >> text=JSON');
	await page.waitForSelector('.actions .problem:not(:empty)');
	expect(beside(wrong.splice(0))).toEqual([]);
});

test('recordings appear even if responses are slow, and an upload continues while another view is open', async () => {
	const endpoint = await startTranscription();
	closing.push(endpoint.close);
	const [memo, other] = ['memo.m4a', 'other.wav'].map((name) => join(temporaryFolder(), name));
	await makeTones(memo, { seconds: 5 });
	writeFileSync(other, 'no sound');
	const own = await pages.serve(temporaryFolder(), [
		...['--timezone', 'Europe/Berlin', '--allow-changes'],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	const { page, wrong, context } = await open(own);
	let send = () => {};
	const sent = new Promise<void>((resolve) => (send = resolve));
	await page.route('**/v1/recordings*', async (route) => {
		await (route.request().method() === 'POST' ? sent : sleep(3_500));
		await route.continue().catch(() => {});
	});
	await page.goto('/recordings');
	await page.waitForSelector('text=There are no recordings yet.');
	const isPrevented = (name: string) =>
		page.evaluate((of) => {
			const transfer = new DataTransfer();
			transfer.items.add(new File(['a'], 'a.mp3'));
			const event =
				of === 'beforeunload'
					? new Event(of, { cancelable: true })
					: new DragEvent(of, { dataTransfer: transfer, bubbles: true, cancelable: true });
			return !(of === 'beforeunload' ? window : document.querySelector('h1')!).dispatchEvent(event);
		}, name);
	// A file beside the field doesn't replace the page.
	expect(await isPrevented('dragover')).toBe(true);
	expect(await isPrevented('drop')).toBe(true);
	expect(await isPrevented('beforeunload')).toBe(false);
	await page.setInputFiles('input[type=file]', memo);
	await page.waitForSelector('progress');
	expect(await isPrevented('beforeunload')).toBe(true);
	await page.keyboard.press('s');
	await page.waitForSelector('.facts');
	await page.keyboard.press('r');
	await page.waitForSelector('progress');
	send();
	await page.waitForSelector('progress', { state: 'detached' });
	await page.waitForSelector('.recording');
	await page.waitForSelector('.recording.done');
	expect(wrong).toEqual([]);
	await context.clearCookies();
	await page.setInputFiles('input[type=file]', other);
	await page.waitForSelector('text=Your session has ended');
	expect(beside(wrong.splice(0))).toEqual([]);
});

test("a transcript appears before its audio, and stays if the audio map can't be read", async () => {
	const { page, wrong } = await open();
	let answer = () => {};
	const asked = new Promise<void>((resolve) => (answer = resolve));
	await page.route('**/audio-map', async (route) => {
		await asked;
		await route.abort().catch(() => {});
	});
	await page.goto('/lifelogs/long');
	await page.waitForSelector('.transcript .said');
	expect(await page.locator('.player').count()).toBe(0);
	answer();
	await page.waitForSelector(NO_ANSWER);
	expect(await page.locator('.transcript .said').count()).toBeGreaterThan(0);
	expect(await findings(page)).toEqual([]);
	await page.unroute('**/audio-map');
	await page.click('button:text("Try again")');
	await page.waitForSelector('.player');
	expect(beside(wrong.splice(0))).toEqual([]);
});

test('on a phone, the header shows every view', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [], chats: CHATS.slice(0, 1) });
	const own = await pages.serve(folder, [
		...['--inbox', temporaryFolder()],
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
	]);
	const { page } = await open(own);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.goto('/status');
	await page.waitForSelector('.facts');
	const [nav, ...links] = await page.evaluate(() =>
		['header nav', 'header nav a'].flatMap((each) =>
			Array.from(document.querySelectorAll(each)).map((element) => {
				const { left, right } = element.getBoundingClientRect();
				return { left, right };
			}),
		),
	);
	expect(links).toHaveLength(6);
	for (const { left, right } of links) {
		expect(left).toBeGreaterThanOrEqual(nav.left);
		expect(right).toBeLessThanOrEqual(nav.right);
	}
});

test('an unknown lifelog or chat shows "Not found" and a link back', async () => {
	const { page, wrong } = await open();
	for (const [path, to, ready] of [
		['/lifelogs/none', 'Go to the calendar', '.months'],
		['/chats/none', 'Go to the chats', '.rows'],
	]) {
		await page.goto(path);
		await page.waitForSelector('h1:text("Not found")');
		expect(await page.title()).toBe('Not found · Lifelogs');
		expect(await page.locator('text=Try again').count()).toBe(0);
		expect(await findings(page)).toEqual([]);
		await page.click(`main >> text=${to}`);
		await page.waitForSelector(ready);
	}
	// The browser logs each 404 itself.
	expect(wrong.splice(0).filter((each) => !each.includes('404'))).toEqual([]);
});

test('while the index is being built, each view shows the progress, and then appears by itself', async () => {
	const { page, wrong } = await open();
	let isReady = false;
	const json = { index: { state: 'indexing', done: 3, total: 40 } };
	await page.route('**/web/status', (route) =>
		isReady ? route.fallback() : route.fulfill({ json }),
	);
	await page.route('**/web/days', (route) =>
		isReady
			? route.fallback()
			: route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { error: 'Wait' } }),
	);
	for (const [path, ready] of [
		['/', '.months'],
		['/status', '.facts'],
	]) {
		isReady = false;
		await page.goto(path);
		await page.waitForSelector('text=The index is being built: 3 of 40 days read');
		expect(await page.locator('text=Try again').count()).toBe(0);
		expect(await findings(page)).toEqual([]);
		isReady = true;
		await page.waitForSelector(ready);
	}
	// The browser logs each 503 itself.
	expect(wrong.splice(0).filter((each) => !each.includes('503'))).toEqual([]);
});

test('a neighboring day of another year shows the year, and missing audio is reported once', async () => {
	const lifelogs = ['2024-07-17', '2026-03-01', '2026-03-02'].map((day) =>
		lifelogOf(day, `${day}T12:00:00Z`),
	);
	const { page } = await openOver({ lifelogs });
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.entry');
	expect(await page.locator('.neighbors >> nth=0 >> a').allTextContents()).toEqual([
		...['← Jul 17, 2024', 'Mar 2 →'],
	]);
	expect(await page.locator('main >> text=no audio').count()).toBe(1);
	await page.click('.entry a');
	await page.waitForSelector('.head >> text=no audio');
});

test('an empty calendar says how to fill it', async () => {
	const own = await pages.serve(temporaryFolder(), [
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
		'--allow-changes',
	]);
	const { page } = await open(own);
	await page.goto('/');
	await page.waitForSelector('main >> text=There are no lifelogs yet');
	expect(await page.locator('.way h2').allTextContents()).toEqual([
		...['From Limitless', 'A recording', "The app's export"],
	]);
	await page.waitForSelector('.way >> text=cannot be reached');
	expect(await findings(page)).toEqual([]);
	await page.click('main >> text=Go to the recordings');
	await page.waitForSelector('.upload');
});

test('clicking a heading in the contents scrolls to it, and the space bar then plays', async () => {
	const contents = Array.from({ length: 20 }, (_, part) => [
		{ type: 'heading2', content: `Part ${part}` },
		...Array.from({ length: 10 }, (_each, nth) => line(`Line ${part}.${nth}`, 'Anna', part)),
	]).flat();
	const { page } = await openOver({
		lifelogs: [ranging('parts', 0, 20, { contents })],
		audio: [{ startMs: NOON, endMs: NOON + 30_000, content: tone(0, 30) }],
	});
	await page.goto('/lifelogs/parts');
	await page.waitForSelector('.player');
	await page.click('.contents button >> text=Part 15');
	await page.waitForSelector('.part:has-text("Part 15")');
	await page.waitForFunction(() => scrollY > 500);
	await page.keyboard.press(' ');
	await page.waitForFunction(() => document.querySelector('audio')?.paused === false);
	await page.keyboard.press(' ');
	// By keys, a space chooses.
	await page.evaluate(() => scrollTo(0, 0));
	await page.focus('.contents button:has-text("Part 10")');
	await page.keyboard.press(' ');
	await page.waitForFunction(() => scrollY > 500);
	expect(await page.evaluate(() => document.querySelector('audio')!.paused)).toBe(true);
	// Nothing is offered that isn't allowed.
	expect(await page.locator('.actions button:visible').allTextContents()).toEqual(['Copy']);
});

test('without scripts, the page says that it needs them', async () => {
	const context = await browser().newContext({ javaScriptEnabled: false });
	closing.push(() => context.close());
	const page = await context.newPage();
	await page.goto(server.url);
	expect(await page.innerText('body')).toContain('This page needs JavaScript');
});

test('filters work without a query, and "Show more" only adds results at the end', async () => {
	const lifelogs = Array.from({ length: 205 }, (_, nth) =>
		lifelogOf(`s${nth}`, new Date(NOON + (nth % 30) * 86_400_000 + nth * 1000).toISOString(), {
			...{ title: nth < 204 ? `Walk ${nth}` : 'Other', isStarred: nth % 41 === 0 },
			contents: [line('A walk', nth % 50 === 0 ? 'Zora' : 'Anna')],
		}),
	);
	const { page } = await openOver({ lifelogs });
	await page.goto('/search');
	const outcome = page.locator('[role=status]');
	await page.check('.search input[type=checkbox]');
	await page.waitForSelector('.result .star');
	expect(await outcome.textContent()).toBe('5 lifelogs found');
	await page.uncheck('.search input[type=checkbox]');
	await page.fill('.search input[name=speaker]', 'zora');
	await page.waitForURL('**/search?speaker=zora');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 5);
	await page.fill('.search input[name=from]', '2026-03-20');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 2);
	expect(page.url()).toContain('from=2026-03-20');
	expect(await findings(page)).toEqual([]);
	await page.goto('/search?q=walk');
	await page.waitForSelector('.result');
	const shown = () => page.locator('.result a[data-entry]').evaluateAll((all) => all.map(String));
	const before = await shown();
	await page.click('text=Show more');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 40);
	expect((await shown()).slice(0, 20)).toEqual(before);
	for (let times = 3; times <= 10; times += 1) {
		await page.click('text=Show more');
		await page.waitForFunction(
			(wanted) => document.querySelectorAll('.result').length === wanted,
			20 * times,
		);
	}
	expect(await outcome.textContent()).toBe('The 200 best matches. Add words or filters.');
	await page.fill('input[type=search]', 'other wal');
	await page.waitForSelector('[role=status] >> text=1 lifelog found without “wal”');
	await page.fill('input[type=search]', 'wal');
	await page.waitForSelector('text=Type more letters');
});

test('a chosen theme is applied before the first paint', async () => {
	const { page, wrong } = await open();
	await page.emulateMedia({ colorScheme: 'light' });
	await page.addInitScript(() => localStorage.setItem('theme', 'dark'));
	await page.route('**/assets/index-*.js', (route) => route.abort());
	await page.goto('/');
	expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
		'rgb(22, 24, 27)',
	);
	expect(beside(wrong.splice(0))).toEqual([]);
});

test('on a day with thousands of lifelogs, only the visible ones are laid out', async () => {
	const lifelogs = Array.from({ length: 2_000 }, (_, nth) => ranging(`n${nth}`, nth / 4, nth / 4));
	const { page } = await openOver({ lifelogs });
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.entry');
	const seen = () =>
		page.evaluate(() =>
			Array.from(document.querySelectorAll('.entry h2')).map((each) =>
				each.checkVisibility({ contentVisibilityAuto: true }),
			),
		);
	expect(await seen()).toHaveLength(2_000);
	expect((await seen()).filter(Boolean).length).toBeLessThan(100);
	await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
	await page.waitForFunction(() =>
		document
			.querySelector('.entry:last-child h2')!
			.checkVisibility({ contentVisibilityAuto: true }),
	);
	expect((await seen()).filter(Boolean).length).toBeLessThan(200);
});

test('the page is in English everywhere, with the clock and the first day of the week of the place', async () => {
	for (const [locale, column, time] of [
		['en-US', '1', /^1:00\sPM$/],
		['de-DE', '7', /^13:00$/],
	] as const) {
		const { page } = await pages.open(server, { locale });
		await page.goto('/');
		// The first of March 2026 is a Sunday.
		await page.waitForSelector('[id="2026-03"] .days');
		expect([locale, await page.getAttribute('[id="2026-03"] .days', 'data-first')]).toEqual([
			...[locale, column],
		]);
		await page.goto('/days/2026-03-01');
		expect(await page.textContent('h1')).toBe('Sunday, March 1, 2026');
		expect(await page.textContent('.entry time')).toMatch(time);
	}
});

test('on a phone, the player takes only two rows', async () => {
	const { page } = await open();
	await page.setViewportSize({ width: 360, height: 740 });
	await page.goto('/lifelogs/long');
	await page.waitForSelector('.player');
	// As of a lifelog of several hours.
	await page.locator('.clock').evaluate((clock) => (clock.textContent = '1:04:05 / 3:00:00'));
	const player = (await page.locator('.player').boundingBox())!;
	expect(player.height).toBeLessThan(110);
	const body = (await page.locator('.lifelog').boundingBox())!;
	expect(body.width).toBeLessThan(360);
});

test('the Markdown of a chat is formatted', async () => {
	const chat = chatOf('m', at(0));
	const text = '**Bold** words\n\n- one\n- two\n\n| a | b |\n| - | -: |\n| 1 | 2 |';
	const messages = chat.messages.map((message) => ({ ...message, text }));
	const { page } = await openOver({ lifelogs: [], chats: [{ ...chat, messages }] });
	await page.goto('/chats/m');
	await page.waitForSelector('.message .markdown');
	const said = page.locator('.message .markdown >> nth=0');
	expect(await said.locator('strong').allTextContents()).toEqual(['Bold']);
	expect(await said.locator('ul li').allTextContents()).toEqual(['one', 'two']);
	expect(await said.locator('table td').allTextContents()).toEqual(['1', '2']);
	expect(await findings(page)).toEqual([]);
});

test('the status names files that are left out', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [lifelogOf('a', at(0)), lifelogOf('b', at(1_440))] });
	const [name] = readdirSync(join(folder, 'days'));
	const { lifelogs } = JSON.parse(readFileSync(join(folder, 'days', name), 'utf8'));
	const [{ path }] = Object.values<{ files: { path: string }[] }>(lifelogs)[0].files;
	writeFileSync(join(folder, path), 'broken');
	const own = await pages.serve(folder);
	const { page } = await open(own);
	await page.goto('/status');
	await page.waitForSelector('h2:text("1 file left out")');
	expect(await page.locator('li code').allTextContents()).toEqual([path]);
	expect(await findings(page)).toEqual([]);
});

test('Status has the disk use and the last run, and checks every file', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [lifelogOf('a', at(0)), lifelogOf('b', at(1_440))] });
	const report = { updatedAt: at(2_000), summary: 'Complete: 2 days archived in this run.' };
	writeFileSync(join(folder, 'report.json'), JSON.stringify({ ...report, isComplete: true }));
	const own = await pages.serve(folder, ['--timezone', 'Europe/Berlin']);
	const { page } = await open(own);
	await page.goto('/status');
	const facts = page.locator('.facts');
	await facts.getByText(/^\d+(\.\d)? kB, the index \d+ kB\. \d+(\.\d)? [GT]B are free$/).waitFor();
	await facts.getByText('Mar 2, 2026, 10:20 PM. Complete: 2 days archived in this run.').waitFor();
	const check = page.getByRole('button', { name: 'Check every file' });
	await check.press('Enter');
	await page.waitForSelector('text=No file is missing or changed.');
	await page.waitForSelector('text=/\\d files of 2 days \\(.*\\) are unchanged/');
	const [day] = readdirSync(join(folder, 'days'));
	const { lifelogs } = JSON.parse(readFileSync(join(folder, 'days', day), 'utf8'));
	const [{ path }] = Object.values<{ files: { path: string }[] }>(lifelogs)[0].files;
	writeFileSync(join(folder, path), 'broken');
	await check.and(page.locator(':focus')).waitFor();
	await page.keyboard.press('k');
	await page.waitForSelector(`li code:text-is("${path}")`);
	await page.waitForSelector('strong >> text=1 finding.');
	expect(await findings(page)).toEqual([]);
	// Another view doesn't end it, and what was found is there afterwards.
	await page.reload();
	await page.waitForSelector('strong >> text=1 finding.');
	// A client with a key can't start it.
	const refused = await ask(own, '/web/check', { method: 'POST' });
	expect([refused.status, (await refused.json()).error]).toEqual([
		...[403, 'Only the page can do this. Use the commands of lifelog-server instead'],
	]);
});

test.each([
	[['--allow-changes', '--allow-delete'], /^on$/],
	[['--allow-changes'], /^partly on\. To delete, start it with --allow-delete\.$/],
	[
		[],
		/^off\. To star.* lines.* words.* speakers.* start the server with --allow-changes\. To delete.*--allow-delete\.$/,
	],
])('Status of a server with %j says how lifelogs can be edited', async (options, text) => {
	const { page } = await openOver({ lifelogs: [lifelogOf('a', at(0))] }, options);
	await page.goto('/status');
	await page.waitForSelector('.facts');
	const editing = await page.textContent('dt:text("Editing") + dd');
	expect(editing!.trim().replaceAll(/\s+/g, ' ')).toMatch(text);
});
