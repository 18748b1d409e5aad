// The player of lifelog-server's page in Chromium.
import { temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import {
	lineStartMs,
	listen,
	LONG_TALK,
	secondOf,
	tone,
	writeLongTalk,
} from '../support/longTalk.mts';
import { usePages } from '../support/openPage.mts';
import { CHANGING } from './days.mts';

const { open, serve } = usePages();

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
		const own = await serve(folder, CHANGING);
		const { page } = await open(own);
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
		// The view can be left while it plays.
		await page.keyboard.press('c');
		await page.waitForSelector('.months');
		await page.goBack();
		await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) > 0);
		await page.keyboard.press(' ');
		await page.waitForFunction(() => document.querySelector('audio')?.paused === false);
		// What is selected can be copied: a click that ends it plays nothing.
		await page.keyboard.press(' ');
		await page.locator('.said').first().selectText();
		await page.locator('.said').first().dispatchEvent('click');
		expect(await page.evaluate(() => String(getSelection()).trim())).toBe('Tone 2.5');
		expect((await state()).paused).toBe(true);
	});

	test('scrolls and plays 3 hours of 10,000 lines, and keeps fewer than 100 lines in the page', async () => {
		const folder = temporaryFolder();
		await writeLongTalk(folder);
		const own = await serve(folder, CHANGING);
		const { page } = await open(own);
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
			// A busy browser may be at one of the next lines.
			await page.waitForFunction((chosen) => {
				const current = document.querySelector('.said[aria-current]');
				const at = Number(current?.closest<HTMLElement>('[data-line]')?.dataset.line);
				return at >= chosen && at < chosen + 100;
			}, line);
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
	});
});
