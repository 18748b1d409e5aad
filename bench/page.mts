// The page of lifelog-server in Chromium, over three years.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { median, quantile } from 'simple-statistics';
import { startBrowser } from '../test/n8n/support/browser.mts';
import {
	lineStartMs,
	listen,
	LONG_TALK,
	secondOf,
	writeLongTalk,
	type Listening,
} from '../test/support/longTalk.mts';
import { count, figureOf, type Row, spreadOf } from './figures.mts';
import { writeLife } from './server/folder.mts';
import { words } from './server/life.mts';
import { serve, type Served } from './server/processes.mts';

const LIFELOGS = 50_000;
const TIMES = 21;
const MAIN = join('server', 'cli', 'main.mts');

/** Opens the page of a server, signed in. */
async function open(browser: Browser, { url, apiKey }: Served): Promise<Page> {
	const page = await browser.newPage({
		...{ baseURL: url, viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' as const },
	});
	await page.goto('/status');
	await page.fill('#key', apiKey);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.facts');
	return page;
}

/** How long it takes from a click until something is painted, in ms. */
async function shownMs(page: Page, clicked: string, shown: string): Promise<number> {
	return (await shownOneByOneMs(page, clicked, [shown]))[0];
}

/** How long it takes from a click until each of some things is painted, one after the other, in ms. */
async function shownOneByOneMs(page: Page, clicked: string, shown: string[]): Promise<number[]> {
	await page.waitForSelector(clicked);
	return await page.evaluate(
		async ([clickedNow, shownThen]) => {
			const frame = () => new Promise(requestAnimationFrame);
			const began = performance.now();
			const taken: number[] = [];
			document.querySelector<HTMLElement>(clickedNow)!.click();
			for (const selector of shownThen) {
				while (!document.querySelector(selector)) await frame();
				// The frame after that one has it painted.
				await frame();
				await frame();
				taken.push(performance.now() - began);
			}
			return taken;
		},
		[clicked, shown] as const,
	);
}

/** How long it takes from the last key until results are painted, in ms. */
async function foundMs(page: Page, search: string): Promise<number> {
	return await page.evaluate(async (text) => {
		const frame = () => new Promise(requestAnimationFrame);
		const input = document.querySelector<HTMLInputElement>('input[type=search]')!;
		const began = performance.now();
		input.value = text;
		input.dispatchEvent(new InputEvent('input', { bubbles: true }));
		const isShown = () =>
			new URLSearchParams(location.search).get('q') === text && document.querySelector('.result');
		while (!isShown()) await frame();
		await frame();
		await frame();
		return performance.now() - began;
	}, search);
}

interface Views {
	calendar: number[];
	day: number[];
	lifelog: number[];
	search: number[];
}

/** Goes from view to view, each time to others. */
async function goThrough(page: Page): Promise<Views> {
	const taken: Views = { calendar: [], day: [], lifelog: [], search: [] };
	for (let nth = 0; nth < TIMES; nth += 1) {
		taken.calendar.push(await shownMs(page, 'nav a[href="/"]', '.day[data-day]'));
		const day = await page
			.locator('[data-day]')
			.nth(50 * nth)
			.getAttribute('data-day');
		taken.day.push(await shownMs(page, `[data-day="${day}"]`, '.entry'));
		taken.lifelog.push(await shownMs(page, '.entry:nth-of-type(3) h2 a', '.transcript .said'));
		await shownMs(page, 'nav a[href="/search"]', 'input[type=search]');
		taken.search.push(await foundMs(page, `${words[100 + nth]} ${words[200 + nth]}`));
	}
	return taken;
}

/** What a click on a line plays. */
interface Played {
	/** Until the first sound, in ms. */
	waitMs: number;
	/** How far the first sound is from the time of the line, in s. */
	offS: number;
}

/** Clicks on a line while nothing plays, and listens. */
async function playLine(page: Page, line: number): Promise<Played> {
	const { waitMs, sinceMs, hertz } = await page.evaluate(async (index) => {
		const { audio, analyser } = (globalThis as unknown as { listening: Listening }).listening;
		const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
		const samples = new Float32Array(analyser.fftSize);
		const isLoud = (from: number) => {
			analyser.getFloatTimeDomainData(samples);
			return samples.subarray(from).some((sample) => Math.abs(sample) > 0.1);
		};
		audio.pause();
		while (isLoud(0)) await sleep(5);
		const began = performance.now();
		document.querySelector<HTMLElement>(`[data-line="${index}"] .said`)!.click();
		while (!isLoud(0)) await sleep(1);
		const waitMs = performance.now() - began;
		// Until all that is looked at is of the tone.
		await sleep(250);
		analyser.getFloatTimeDomainData(samples);
		const sinceMs = performance.now() - began - waitMs;
		const rises = [...samples.keys()].filter((at) => samples[at] < 0 && samples[at + 1] >= 0);
		const lengthS = (rises.at(-1)! - rises[0]) / analyser.context.sampleRate;
		return { waitMs, sinceMs, hertz: (rises.length - 1) / lengthS };
	}, line);
	const middleMs = 8192 / 96;
	const beganS = secondOf(hertz) - (sinceMs - middleMs) / 1000;
	return { waitMs, offS: Math.abs(beganS - ((lineStartMs(line) / 1000) % 60)) };
}

/** The line in the middle of the window, after scrolling there. */
async function lineAt(page: Page, share: number): Promise<number> {
	await page.evaluate(
		(to) => scrollTo(0, to * (document.documentElement.scrollHeight - innerHeight)),
		share,
	);
	await page.waitForTimeout(300);
	return await page.evaluate(() => {
		const lines = Array.from(document.querySelectorAll<HTMLElement>('[data-line]'));
		const below = lines.find((each) => each.getBoundingClientRect().top > innerHeight / 2);
		return Number(below!.dataset.line);
	});
}

/** How long the frames take while the talk is scrolled through, in ms. */
async function scrollFrames(page: Page): Promise<number[]> {
	return await page.evaluate(async () => {
		const frames: number[] = [];
		const height = document.documentElement.scrollHeight - innerHeight;
		let before = await new Promise<number>(requestAnimationFrame);
		for (let step = 0; step <= 120; step += 1) {
			scrollTo(0, (height * step) / 120);
			const now = await new Promise<number>(requestAnimationFrame);
			frames.push(now - before);
			before = now;
		}
		return frames;
	});
}

/** Opens, scrolls and plays 3 hours of 10,000 lines. */
async function measureLongTalk(browser: Browser): Promise<Row[]> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-page-'));
	try {
		await writeLongTalk(folder);
		const served = await serve(MAIN, [folder, '--json', '--port', '0']);
		try {
			const page = await open(browser, served);
			await page.goto('/');
			await page.click('.day[data-day]');
			const shown = await shownOneByOneMs(page, '.entry h2 a', ['.transcript .said', '.playable']);
			const frames = await scrollFrames(page);
			await page.click(`[data-line="${await lineAt(page, 0)}"] .said`);
			await page.waitForFunction(() => document.querySelector('audio')!.currentTime > 0);
			await listen(page);
			const played: Played[] = [];
			for (let nth = 0; nth < TIMES; nth += 1) {
				played.push(await playLine(page, await lineAt(page, ((nth * 8) % TIMES) / TIMES)));
			}
			return rowsOfLongTalk(shown, frames, played);
		} finally {
			await served.close();
		}
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

function rowsOfLongTalk([text, playable]: number[], frames: number[], played: Played[]): Row[] {
	const talk = `3 hours, ${count(LONG_TALK.lines)} lines`;
	const frame = quantile(frames, 0.95);
	const waits = spreadOf(played.map(({ waitMs }) => waitMs));
	const off = spreadOf(played.map(({ offS }) => offS));
	return [
		{
			what: `Page, ${talk}: shown`,
			figure: `${text.toFixed(0)} ms`,
			from: `one click; ${playable.toFixed(0)} ms until its lines can be played`,
			goal: 'at most 300 ms',
			holds: text <= 300,
		},
		{
			what: `Page, ${talk}: scrolled through`,
			figure: `${frame.toFixed(0)} ms a frame`,
			from: `95th percentile of ${frames.length} frames`,
			goal: 'at most 50 ms',
			holds: frame <= 50,
		},
		{
			what: `Page, ${talk}: a click on a line until it sounds`,
			figure: `${figureOf(waits, 0)} ms`,
			from: `${TIMES} lines, heard in the browser`,
			goal: 'at most 500 ms',
			holds: waits.high <= 500,
		},
		{
			what: `Page, ${talk}: where that begins, from the time of the line`,
			figure: `${figureOf(off)} s`,
			from: 'the pitch of what is heard',
			goal: 'at most 0.2 s',
			holds: off.high <= 0.2,
		},
	];
}

/** Writes three years and a long talk into temporary folders, and looks at them in Chromium. */
export async function page(): Promise<Row[]> {
	execFileSync(process.execPath, [join('server', 'page', 'buildIfNeeded.mts')]);
	const browser = await startBrowser();
	const folder = await mkdtemp(join(tmpdir(), 'bench-page-'));
	try {
		writeLife(folder, LIFELOGS);
		const served = await serve(MAIN, [
			folder,
			'--json',
			'--port',
			'0',
			'--timezone',
			'Europe/Berlin',
		]);
		let taken: Views;
		try {
			taken = await goThrough(await open(browser, served));
		} finally {
			await served.close();
		}
		const goals: Record<keyof Views, number> = {
			calendar: 300,
			day: 300,
			lifelog: 300,
			search: 500,
		};
		const rows = Object.entries(goals).map(([name, goal]): Row => {
			const times = taken[name as keyof Views];
			return {
				what: `Page, ${count(LIFELOGS)} lifelogs: ${name}`,
				figure: `${figureOf(spreadOf(times), 0)} ms`,
				from: `${TIMES} times, until it is painted${name === 'search' ? '; 300 ms of it wait for the next key' : ''}`,
				goal: `median at most ${goal} ms`,
				holds: median(times) <= goal,
			};
		});
		return [...rows, ...(await measureLongTalk(browser))];
	} finally {
		await browser.close();
		await rm(folder, { recursive: true, force: true });
	}
}
