// The page of lifelog-server in Chromium where something is slow, fails or is unusual.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { Lifelog } from '../../nodes/shared/api/apiTypes.d.ts';
import { startBrowser } from '../n8n/support/browser.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { tone } from '../support/longTalk.mts';
import { findings, openPage } from '../support/openPage.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription } from '../support/transcription.mts';
import { buildPage } from '../support/web.mts';

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

let browser: Browser;
let server: SpawnedServer;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
	buildPage();
	browser = await startBrowser();
	const folder = temporaryFolder();
	const audio = [NOON, Date.parse('2026-03-05T12:00:00Z')].map((startMs) => ({
		...{ startMs, endMs: startMs + 30_000, content: tone(0, 30) },
	}));
	await writeArchive(folder, { lifelogs: LIFELOGS, chats: CHATS, audio });
	server = await startLifelogServer(folder, [
		...['--timezone', 'Europe/Berlin', '--allow-changes', '--allow-delete'],
	]);
});
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
	await server?.close();
	await browser?.close();
});

const open = (of: Pick<SpawnedServer, 'url'> = server) => openPage(browser, of, { closing });

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

test('an address of no day shows that there is none', async () => {
	const { page, wrong } = await open();
	for (const day of ['2026-13-45', '2026-02-30', 'today']) {
		await page.goto(`/days/${day}`);
		await page.waitForSelector('h1:text("Not found")');
	}
	await page.click('main a');
	await page.waitForSelector('.months');
	expect(wrong).toEqual([]);
});

test('an unknown address has a page that leads to the calendar', async () => {
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
	expect(wrong.filter((each) => !each.includes('404'))).toEqual([]);
});

test('only speakers with a name are renamed, and the same names change nothing', async () => {
	const { page, wrong } = await open();
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
	expect(await page.locator('dialog label bdi').allTextContents()).toEqual(['Anna', 'Ben']);
	await page.click('dialog >> text=Save');
	await page.waitForSelector('dialog', { state: 'detached' });
	expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Speakers');
	expect(changes).toEqual([]);
	await page.click('.actions >> text=Speakers');
	await page.fill('dialog input >> nth=1', 'Benjamin');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.speaker >> text=Benjamin');
	expect(changes.map((each) => JSON.parse(each))).toEqual([{ speakers: { Ben: 'Benjamin' } }]);
	await page.goto('/lifelogs/within');
	await page.waitForSelector('.actions >> text=Rename');
	expect(await page.locator('.actions >> text=Speakers').count()).toBe(0);
	expect(wrong).toEqual([]);
});

test('what is shown stays when it cannot be read again, and goes on playing', async () => {
	const { page, wrong } = await open();
	await page.goto('/lifelogs/long');
	await page.click('.playable >> nth=0');
	await page.waitForFunction(() => !document.querySelector('audio')!.paused);
	await page.evaluate(() => document.querySelector('audio')!.classList.add('same'));
	await breaks(page, '**/v1/lifelogs/long?*', 'GET');
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
	expect(beside(wrong)).toEqual([]);
});

test('a pause while the audio is still on its way is no problem', async () => {
	const { page, wrong } = await open();
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
	await page.waitForFunction(() => document.querySelector('audio')!.currentTime > 0);
	expect(wrong).toEqual([]);
});

test('what is focused stays above the player', async () => {
	const { page } = await open();
	await page.setViewportSize({ width: 700, height: 500 });
	await page.goto('/lifelogs/long');
	await page.locator('button.time').first().focus();
	for (let nth = 0; nth < 20; nth += 1) {
		await page.keyboard.press('Tab');
		const [line, player] = await page.evaluate(() => [
			document.activeElement!.getBoundingClientRect().bottom,
			document.querySelector('.player')!.getBoundingClientRect().top,
		]);
		expect(line).toBeLessThanOrEqual(player);
	}
});

test('a title is typed as it is shown, whatever spaces it has', async () => {
	const { page } = await open();
	await page.goto('/lifelogs/long');
	await page.click('.actions >> text=Delete');
	await page.fill('dialog input', 'Plans for spring');
	expect(await page.isEnabled('dialog button[type=submit]')).toBe(true);
});

test('a gap is where no lifelog is, and a day may have audio only', async () => {
	const { page, wrong } = await open();
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
	await page.waitForSelector('h2:text("Missing days (UTC)") + p:text(" to ")');
	expect(wrong).toEqual([]);
});

test('one long day pales no other, and years are led to', async () => {
	const folder = temporaryFolder();
	const of = (day: string, minutes: number) =>
		lifelogOf(day, `${day}T12:00:00Z`, {
			endTime: new Date(Date.parse(`${day}T12:00:00Z`) + minutes * MINUTE_MS).toISOString(),
		});
	const days = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2025-03-05'];
	const lifelogs = days.map((day, nth) => of(day, nth === 4 ? 600 : 5 * (nth + 1)));
	await writeArchive(folder, { lifelogs });
	const own = await startLifelogServer(folder, ['--timezone', 'Europe/Berlin']);
	closing.push(own.close);
	const { page, wrong } = await open(own);
	await page.goto('/');
	for (const [nth, day] of days.entries()) {
		await page.waitForSelector(`.shade-${nth + 1}[data-day="${day}"]`);
	}
	await page.setViewportSize({ width: 400, height: 400 });
	await page.click('.years >> text=2025');
	await page.waitForFunction(() => scrollY > 100);
	expect(await findings(page)).toEqual([]);
	expect(wrong).toEqual([]);
});

test('a calendar of no length has shades', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [ranging('instant', 0, 0)] });
	const own = await startLifelogServer(folder);
	closing.push(own.close);
	const { page } = await open(own);
	await page.goto('/');
	await page.waitForSelector('.day.shade-1');
});

test('a summary is not offered for copying where the browser cannot', async () => {
	const { page, wrong } = await open();
	// As over plain HTTP.
	await page.addInitScript(() =>
		Object.defineProperty(navigator, 'clipboard', { value: undefined }),
	);
	await page.goto('/days/2026-03-01');
	await page.click('.summary summary');
	await page.waitForSelector('.summary .markdown');
	expect(await page.locator('text=Copy as Markdown').count()).toBe(0);
	expect(wrong).toEqual([]);
});

test('another view begins at its top, and search in its field each time', async () => {
	const { page, wrong } = await open();
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
	expect(wrong).toEqual([]);
});

test('going back shows what was there, where it was left, without waiting', async () => {
	const { page, wrong } = await open();
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
	await page.route('**/web/days/*', async (route) => {
		await sleep(1_500);
		await route.continue().catch(() => {});
	});
	const began = performance.now();
	await page.goBack();
	await page.waitForSelector('.entry');
	expect(performance.now() - began).toBeLessThan(1_200);
	await page.waitForFunction(() => scrollY > 500);
	await page.goto('/search?q=R%26D+100%25');
	await page.waitForSelector('.result');
	await page.click('text=Show more');
	await page.waitForFunction(() => document.querySelectorAll('.result').length === 25);
	await page.evaluate(() => scrollTo(0, 900));
	await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
	await page.locator('.result a >> nth=22').evaluate((link: HTMLElement) => link.click());
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
	await page.evaluate(() => scrollTo(0, 600));
	await page.waitForTimeout(200);
	const read = await page.evaluate(() => scrollY);
	expect(read).toBeGreaterThan(400);
	await page.keyboard.press('c');
	await page.waitForSelector('.months');
	await page.goBack();
	await page.waitForSelector('.line');
	await isAt(read);
	expect(wrong).toEqual([]);
});

test('what is shown stays until what comes next is there', async () => {
	const { page, wrong } = await open();
	await page.route('**/web/search?*', async (route) => {
		await sleep(700);
		await route.continue().catch(() => {});
	});
	await page.goto('/search?q=talk');
	const loading = page.locator('main .loading');
	await loading.waitFor({ state: 'attached' });
	// It appears after a moment, so that nothing blinks.
	expect(await loading.evaluate((each) => getComputedStyle(each).animationDelay)).toBe('0.3s');
	await loading.waitFor({ state: 'visible' });
	await page.waitForSelector('.result');
	await page.fill('input[type=search]', 'talk 7');
	await page.waitForURL('**/search?q=talk+7');
	expect(await page.locator('.result').count()).toBe(20);
	expect(await loading.count()).toBe(0);
	await page.waitForFunction(() => document.querySelectorAll('.result').length < 20);
	expect(wrong).toEqual([]);
});

test('a search keeps every sign, tells how much it found, and says what fails', async () => {
	const { page, wrong } = await open();
	await page.goto('/search');
	const outcome = page.locator('[role=status]');
	expect(await outcome.textContent()).toBe('');
	await page.waitForTimeout(500);
	expect(page.url()).toMatch(/\/search$/);
	await page.check('.search input[type=checkbox]');
	await page.waitForSelector('[role=status] >> text=Type words to search for');
	await page.uncheck('.search input[type=checkbox]');
	// Slower than the pause after which it searches.
	await page.locator('input[type=search]').pressSequentially('R&D 100%', { delay: 120 });
	await page.waitForTimeout(1_000);
	expect(await page.inputValue('input[type=search]')).toBe('R&D 100%');
	expect(new URL(page.url()).searchParams.get('q')).toBe('R&D 100%');
	await page.waitForSelector('.result mark');
	expect(await page.locator('.result h3 mark').first().textContent()).toBe('R');
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
	await page.waitForSelector('[role=status] >> text=No lifelogs match');
	expect(beside(wrong)).toEqual([]);
});

test('more chats, a download and a sign-out that fail say so', async () => {
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
	expect(beside(wrong)).toEqual([]);
});

test('recordings: slow answers count, and an upload goes on while another view is shown', async () => {
	const endpoint = await startTranscription();
	closing.push(endpoint.close);
	const [memo, other] = ['memo.m4a', 'other.wav'].map((name) => join(temporaryFolder(), name));
	await makeTones(memo, { seconds: 5 });
	writeFileSync(other, 'no sound');
	const own = await startLifelogServer(temporaryFolder(), [
		...['--timezone', 'Europe/Berlin', '--allow-changes'],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	]);
	closing.push(own.close);
	const { page, wrong, context } = await open(own);
	await page.route('**/v1/recordings*', async (route) => {
		await sleep(route.request().method() === 'POST' ? 2_000 : 3_500);
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
	await page.waitForSelector('progress', { state: 'detached' });
	await page.waitForSelector('.recording');
	await page.waitForSelector('.recording.done');
	expect(wrong).toEqual([]);
	await context.clearCookies();
	await page.setInputFiles('input[type=file]', other);
	await page.waitForSelector('text=Your session has ended');
	expect(beside(wrong)).toEqual([]);
});
