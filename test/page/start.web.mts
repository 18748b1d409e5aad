// What is beside the calendar of lifelog-server's page, in Chromium.
import { temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { findings, usePages } from '../support/openPage.mts';

const { open, serve } = usePages();
/** As everywhere, the day is that of the server: in New York it's still the 16th. */
const TODAY = '2026-03-17T00:30:00+01:00';

const lasting = (id: string, startTime: string, minutes: number, isStarred = false) =>
	lifelogOf(id, startTime, {
		...{ title: `Talk ${id}`, isStarred },
		endTime: new Date(Date.parse(startTime) + minutes * 60_000).toISOString(),
	});
const LIFELOGS = [
	lasting('a', '2024-03-17T08:00:00Z', 10),
	lasting('b', '2025-03-17T08:00:00Z', 1),
	lasting('c', '2025-03-17T09:00:00Z', 30, true),
	lasting('d', '2025-03-17T10:00:00Z', 20),
	lasting('e', '2025-03-17T11:00:00Z', 40),
	lasting('f', '2025-03-18T08:00:00Z', 10),
	...Array.from({ length: 6 }, (_, nth) => lasting(`n${nth}`, `2026-03-1${nth}T08:00:00Z`, 60)),
];

test('the start shows the newest lifelogs, this day in earlier years, and how much there is', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: LIFELOGS });
	const server = await serve(folder, ['--timezone', 'Europe/Berlin']);
	const { page } = await open(server);
	await page.clock.setFixedTime(TODAY);
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: 800 });
			await page.goto('/');
			await page.waitForSelector('.lately section section a');
			await page.waitForSelector('h2:text("Newest") + ol');
			expect([colorScheme, width, await findings(page)]).toEqual([colorScheme, width, []]);
			expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
		}
	}
	await page.waitForSelector('text="12 lifelogs on 9 days · 8 h of talk · 1 starred"');
	const namesIn = (css: string) => page.locator(`${css} li a`).allTextContents();
	expect(await namesIn('h2:text("Newest") + ol')).toEqual(
		[5, 4, 3, 2, 1].map((nth) => `Talk n${nth}`),
	);
	expect(await page.locator('.lately h3').allTextContents()).toEqual([
		...['Monday, March 17, 2025', 'Sunday, March 17, 2024'],
	]);
	// Of a year the longest, in their order.
	expect(await namesIn('h3:has-text("2025") + ol')).toEqual(['Talk c', 'Talk d', 'Talk e']);
	// The arrows are the calendar's, but in the list they move through it.
	await page.locator('.lately a').first().focus();
	await page.keyboard.press('ArrowDown');
	expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Talk n4');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.transcript .said');
	await page.keyboard.press('c');
	await page.click('.lately h3 a');
	await page.waitForURL('**/days/2025-03-17');
	// ↑ and ↓ move through the day.
	await page.waitForSelector('.entry');
	const focused = () => page.evaluate(() => document.activeElement!.textContent);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	expect(await focused()).toBe('Talk c');
	await page.keyboard.press('ArrowUp');
	expect(await focused()).toBe('Talk b');
	await page.keyboard.press('?');
	await page.waitForSelector('dialog >> text=move through the list');
});

test('the menu has chats only where there are some', async () => {
	const without = temporaryFolder();
	await writeArchive(without, { lifelogs: LIFELOGS });
	const withOne = temporaryFolder();
	await writeArchive(withOne, {
		lifelogs: LIFELOGS,
		chats: [chatOf('c', '2026-03-01T08:00:00Z')],
	});
	for (const [folder, count] of [
		[without, 0],
		[withOne, 1],
	] as const) {
		const { page } = await open(await serve(folder));
		await page.goto('/');
		await page.waitForSelector('.months');
		expect(await page.locator('header nav >> text=Chats').count()).toBe(count);
		await page.goto('/chats');
		await page.waitForSelector(count === 0 ? 'text=There are no chats.' : '.rows a');
	}
});
