// The search of lifelog-server's page in Chromium: before it, and where few lifelogs have all words.
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { findings, usePages } from '../support/openPage.mts';

const said = (content: string, speakerName = 'Clara') => [
	{ type: 'blockquote', content, speakerName },
];

let server: SpawnedServer;
beforeAll(async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			lifelogOf('tap', '2026-03-01T08:00:00Z', { contents: said('The budget for the tap.') }),
			lifelogOf('roof', '2026-03-01T12:00:00Z', { contents: said('A roof in spring.') }),
			lifelogOf('both', '2026-03-01T16:00:00Z', { contents: said('Budget and roof.', 'Dora') }),
			lifelogOf('tax', '2026-03-02T08:00:00Z', { contents: said('Budget for the tax.') }),
		],
	});
	server = await startLifelogServer(folder, ['--timezone', 'Europe/Berlin']);
});
afterAll(async () => {
	await server?.close();
});

const { open } = usePages();
const found = '.results[aria-label="Results"] .result';
const partly = '.results[aria-label="Not all words"] .result a[data-entry]';

test('an empty search has filters, examples, and the searches that were used, until they are cleared', async () => {
	const { page } = await open(server);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.goto('/search');
	await page.locator('.filters input[name=from]').waitFor();
	await page.waitForSelector('.examples a:has-text("Clara OR Dora")');
	expect(await page.locator('.recent').count()).toBe(0);
	// What somebody types on the way isn't kept, but what is opened, or ended with Enter.
	await page.fill('.words input', 'budget roof');
	await page.waitForSelector(found);
	await page.fill('.words input', 'budget');
	await page.waitForFunction((css) => document.querySelectorAll(css).length === 3, found);
	await page.click(`${found} a`);
	await page.waitForSelector('.transcript');
	await page.goto('/search?q=roof&from=2026-03-01');
	await page.waitForSelector(found);
	await page.focus('.words input');
	await page.keyboard.press('Enter');
	// Enter comes before anything is looked for.
	await page.fill('.words input', 'tax');
	await page.keyboard.press('Enter');
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		await page.goto('/search');
		await page.waitForSelector('.recent a');
		expect([colorScheme, await findings(page)]).toEqual([colorScheme, []]);
	}
	const recent = page.locator('.recent a');
	expect(await recent.allTextContents()).toEqual([
		'tax, from Mar 1, 2026',
		'roof, from Mar 1, 2026',
		'budget',
	]);
	await recent.nth(2).click();
	await page.waitForURL('**/search?q=budget');
	await page.waitForSelector(found);
	expect(await page.inputValue('.words input')).toBe('budget');
	await page.goto('/search');
	await page.keyboard.press('Tab');
	await page.click('.recent button');
	await page.waitForSelector('.recent', { state: 'detached' });
	await page.reload();
	await page.waitForSelector('.examples');
	expect(await page.locator('.recent').count()).toBe(0);
});

test('signing out forgets the searches', async () => {
	const { page } = await open(server);
	await page.goto('/search?q=budget');
	await page.click(`${found} a`);
	await page.waitForSelector('.transcript');
	await page.waitForLoadState('networkidle');
	await page.keyboard.press('q');
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('#key');
	expect(await page.evaluate(() => localStorage.getItem('searches'))).toBeNull();
});

test('where few lifelogs have all words, those with most of them follow', async () => {
	const { page } = await open(server);
	await page.goto('/search?q=budget+roof+spring');
	await page.waitForSelector('h2 >> text="Not all words"');
	expect(await page.textContent('[role=status]')).toBe('No lifelog has all of this.');
	expect(await page.locator(found).count()).toBe(0);
	const hrefs = await page
		.locator(partly)
		.evaluateAll((all) => all.map((each) => new URL((each as HTMLAnchorElement).href).pathname));
	expect(hrefs).toEqual(['/lifelogs/roof', '/lifelogs/both']);
	expect(await findings(page)).toEqual([]);
	// ↓ leads from the field into the list, and ↑ back.
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	expect(await page.evaluate(() => (document.activeElement as HTMLAnchorElement).pathname)).toBe(
		'/lifelogs/both',
	);
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowUp');
	expect(await page.evaluate(() => document.activeElement!.matches('[type=search]'))).toBe(true);
	// With one match, and others below.
	await page.goto('/search?q=budget+roof');
	await page.waitForSelector(partly);
	expect(await page.locator(found).count()).toBe(1);
	expect(await page.locator(partly).count()).toBe(3);
});

test('a search without a result says what to try', async () => {
	const { page } = await open(server);
	await page.goto('/search?q=budgte&isStarred=true');
	await page.waitForSelector('.advice');
	expect(await findings(page)).toEqual([]);
	await page.click('.advice >> text=Search without filters');
	await page.waitForURL('**/search?q=budgte');
	await page.waitForSelector('.advice');
	await page.click('.advice >> text="budget"');
	await page.waitForURL('**/search?q=budget');
	await page.waitForFunction((css) => document.querySelectorAll(css).length === 3, found);
	await page.goto('/search?q=ta');
	await page.waitForSelector('.advice >> text=Type more letters');
	await page.goto('/search?q=nothingofthekind');
	await page.waitForSelector('.advice >> text=Check the spelling');
	await page.goto(`/search?q=${encodeURIComponent('"tap budget"')}`);
	await page.click('.advice >> text=Search without quotation marks');
	await page.waitForSelector(found);
});

test('a link to another search is followed, also while the address waits for what was typed', async () => {
	const { page } = await open(server);
	await page.goto('/search?q=budgte');
	await page.waitForSelector('.advice >> text="budget"');
	await page.evaluate(async () => {
		const field = document.querySelector<HTMLInputElement>('.words input')!;
		field.value = 'budgte!';
		field.dispatchEvent(new InputEvent('input', { bubbles: true }));
		await new Promise((resolve) => setTimeout(resolve, 150));
		document.querySelector<HTMLElement>('.advice a')!.click();
		// A slow machine: the address's time comes before the page has followed.
		const from = performance.now();
		while (performance.now() < from + 400);
		await new Promise((resolve) => setTimeout(resolve, 1000));
	});
	await page.waitForSelector(found);
	expect(new URL(page.url()).search).toBe('?q=budget');
	expect(await page.inputValue('.words input')).toBe('budget');
});

test('each result names its day, which no heading repeats, and leads there', async () => {
	const { page } = await open(server);
	await page.goto('/search?q=budget');
	await page.waitForSelector(found);
	expect(await page.locator('main h2').count()).toBe(3);
	const days = await page.locator(`${found} time`).allTextContents();
	expect(days.every((day) => /^Mar [12], 2026, \d/.test(day))).toBe(true);
	await page.locator(`${found} a[href^="/days/"]`).first().click();
	await page.waitForSelector('.entry');
});
