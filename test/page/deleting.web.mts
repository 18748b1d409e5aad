// Deleting on lifelog-server's page in Chromium.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ask, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { tone } from '../support/longTalk.mts';
import { findings, usePages } from '../support/openPage.mts';
import { CHANGING } from './days.mts';

const { open, serve } = usePages();

const NOON = Date.parse('2026-03-01T12:00:00Z');

/** Opens a server over a day of five memos, the first of which has audio. */
async function openMemos() {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: Array.from({ length: 5 }, (_, nth) =>
			lifelogOf(`m${nth}`, new Date(NOON + nth * 3_600_000).toISOString(), {
				title: `Memo ${nth}`,
			}),
		),
		audio: [{ startMs: NOON, endMs: NOON + 30_000, content: tone(0, 30) }],
	});
	const server = await serve(folder, CHANGING);
	const opened = await open(server);
	await opened.page.addInitScript(() => {
		const ticks = new Map<number, () => void>();
		Object.assign(globalThis, {
			setInterval: (tick: () => void) => ticks.set(ticks.size + 1, tick).size,
			clearInterval: (id: number) => ticks.delete(id),
			pass: (seconds: number) => {
				for (let nth = 0; nth < seconds; nth += 1) for (const tick of [...ticks.values()]) tick();
			},
		});
	});
	return { ...opened, server, folder };
}

/** Lets seconds of a page pass, which do so only then. */
const pass = (page: Page, seconds: number) =>
	page.evaluate(
		(all) => (globalThis as unknown as { pass: (seconds: number) => void }).pass(all),
		seconds,
	);
const left = async (server: SpawnedServer) => {
	const answer = await ask(server, '/v1/lifelogs?limit=100&direction=asc&includeContents=false');
	return (await answer.json()).data.lifelogs.map(({ id }: { id: string }) => id);
};
const shown = (page: Page) => page.locator('.entry h2 a').allTextContents();
const deletesOf = (page: Page) => {
	const sent: string[] = [];
	page.on('request', (request) => {
		if (request.method() === 'DELETE') sent.push(new URL(request.url()).pathname);
	});
	return sent;
};

test('several lifelogs are selected and deleted at once, after ten seconds in which they can be kept', async () => {
	const { page, server } = await openMemos();
	const sent = deletesOf(page);
	await page.goto('/days/2026-03-01');
	await page.waitForSelector('.entry');
	const select = async () => {
		await page.keyboard.press('x');
		await page.waitForSelector('.entry input');
		// By keys: ↓ leads to each box, and the space bar checks it.
		for (let nth = 0; nth < 3; nth += 1) {
			await page.keyboard.press('ArrowDown');
			if (nth !== 1) await page.keyboard.press(' ');
		}
		await page.waitForSelector('.selecting >> text=2 selected');
	};
	// Escape ends it, where it began.
	await select();
	await page.keyboard.press('Escape');
	await page.locator('button:focus', { hasText: 'Select' }).waitFor();
	expect(await page.locator('.entry input').count()).toBe(0);
	await select();
	expect(await findings(page)).toEqual([]);
	await page.keyboard.press('Delete');
	await page.waitForSelector('dialog >> text=Delete 2 lifelogs');
	expect(await page.textContent('dialog')).toContain("in the archive's folder audio");
	expect(await findings(page)).toEqual([]);
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('.deletions >> text=2 lifelogs are about to be deleted');
	expect(await findings(page)).toEqual([]);
	expect(await shown(page)).toEqual(['Memo 1', 'Memo 3', 'Memo 4']);
	await pass(page, 9);
	expect(sent).toEqual([]);
	await page.keyboard.press('z');
	await page.waitForSelector('.deletions .notice', { state: 'detached' });
	expect(await shown(page)).toHaveLength(5);
	await pass(page, 60);
	expect(sent).toEqual([]);
	expect(await left(server)).toHaveLength(5);
	await page.reload();
	await page.waitForSelector('.entry');
	await select();
	await page.click('.selecting >> text=Delete');
	await page.click('dialog button[type=submit]');
	await pass(page, 10);
	await page.waitForSelector('.deletions >> text=2 lifelogs were deleted');
	expect(sent).toEqual(['/v1/lifelogs/m0', '/v1/lifelogs/m2']);
	expect(await left(server)).toEqual(['m1', 'm3', 'm4']);
	expect(await shown(page)).toEqual(['Memo 1', 'Memo 3', 'Memo 4']);
	await page.click('.deletions >> text=Close');
	await page.waitForSelector('.deletions .notice', { state: 'detached' });
});

test('a delete says which audio stays, and ends at the day with a line that can undo it', async () => {
	const { page, server, folder } = await openMemos();
	await page.goto('/lifelogs/m0');
	await page.click('.actions >> text=Delete');
	const path = await page.textContent('dialog li code');
	expect(path).toMatch(/^audio\/.*\.ogg$/);
	expect(existsSync(join(folder, path!))).toBe(true);
	await page.keyboard.press('Escape');
	await page.waitForSelector('dialog', { state: 'detached' });
	await page.goto('/lifelogs/m1');
	await page.waitForSelector('.transcript');
	await page.keyboard.press('Delete');
	await page.waitForSelector('dialog >> text=It has no audio.');
	expect(await findings(page)).toEqual([]);
	const entries = await page.evaluate(() => history.length);
	await page.click('dialog button[type=submit]');
	await page.waitForURL('**/days/2026-03-01');
	await page.waitForSelector('.deletions >> text=“Memo 1” is about to be deleted');
	// The lifelog has no audio.
	expect(await page.textContent('.deletions')).not.toContain('audio');
	await page.waitForSelector('.entry');
	expect(await shown(page)).toHaveLength(4);
	// Where it was, nothing is.
	expect(await page.evaluate(() => history.length)).toBe(entries);
	await page.waitForFunction(() => document.activeElement!.id === 'main');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.deletions .notice', { state: 'detached' });
	await page.locator('a:focus', { hasText: 'Memo 1' }).waitFor();
	expect(await shown(page)).toHaveLength(5);
	expect(await left(server)).toHaveLength(5);
	expect(readdirSync(join(folder, 'lifelogs'), { recursive: true }).join()).toContain('m1');
});

test('a lifelog that is deleted again meanwhile has one line, whose Undo keeps it', async () => {
	const { page, server } = await openMemos();
	const sent = deletesOf(page);
	await page.goto('/lifelogs/m1');
	const deleteIt = async () => {
		await page.waitForSelector('h1 >> text=Memo 1');
		await page.waitForSelector('.transcript');
		await page.keyboard.press('Delete');
		await page.click('dialog button[type=submit]');
		await page.waitForURL('**/days/2026-03-01');
	};
	await deleteIt();
	await page.click('.entry >> text=Memo 2');
	await page.click('.neighbors >> text=Memo 1');
	await deleteIt();
	expect(await page.locator('.deletions .notice').count()).toBe(1);
	await page.keyboard.press('z');
	await page.waitForSelector('.deletions .notice', { state: 'detached' });
	await pass(page, 60);
	expect(sent).toEqual([]);
	expect(await shown(page)).toHaveLength(5);
	expect(await left(server)).toHaveLength(5);
});

test('a line about a deletion covers nothing while more lifelogs are selected', async () => {
	const { page } = await openMemos();
	await page.setViewportSize({ width: 360, height: 400 });
	await page.goto('/days/2026-03-01');
	const select = async (title: string) => {
		await page.click('.selecting >> text=Select');
		await page.check(`[aria-label="Select ${title}"]`);
	};
	await page.waitForSelector('.entry');
	await select('Memo 0');
	await page.click('.selecting >> text=Delete');
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('.deletions .notice');
	await select('Memo 4');
	await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
	await page.waitForFunction(() => {
		const button = document.querySelector('.selecting .danger')!;
		const { x, y, width, height } = button.getBoundingClientRect();
		return document.elementFromPoint(x + width / 2, y + height / 2) === button;
	});
});

test('all that were found are selected at once, but not those with only some of the words', async () => {
	const { page } = await openMemos();
	await page.goto('/search?q=memo+3');
	await page.waitForSelector('h2 >> text="Not all words"');
	await page.click('text=Select');
	await page.click('.selecting >> text=Select all');
	await page.waitForSelector('.selecting >> text=1 selected');
	await page.check('[aria-label="Select Memo 4"]');
	await page.waitForSelector('.selecting >> text=2 selected');
});

test('closing the tab or signing out meanwhile deletes nothing', async () => {
	const { page, server } = await openMemos();
	const sent = deletesOf(page);
	const begin = async () => {
		await page.goto('/lifelogs/m3');
		await page.click('.actions >> text=Delete');
		await page.click('dialog button[type=submit]');
		await page.waitForSelector('.deletions .notice');
	};
	await begin();
	await page.goto('about:blank');
	await begin();
	await page.keyboard.press('q');
	await page.click('dialog button[type=submit]');
	await page.waitForSelector('#key');
	await pass(page, 60);
	expect(sent).toEqual(['/session']);
	expect(await left(server)).toHaveLength(5);
});

test("what can't be deleted is told, and is tried again or kept", async () => {
	const { page, server, wrong } = await openMemos();
	let refused = 2;
	await page.route('**/v1/lifelogs/m3', (route) => {
		if (route.request().method() !== 'DELETE' || (refused -= 1) < 0) return route.fallback();
		return route.fulfill({ status: 409, json: { error: 'Try again later' } });
	});
	await page.goto('/search?q=memo');
	await page.waitForSelector('.result');
	await page.click('text=Select');
	for (const nth of [2, 3, 4]) await page.check(`[aria-label="Select Memo ${nth}"]`);
	await page.click('.selecting >> text=Delete');
	await page.click('dialog button[type=submit]');
	await pass(page, 10);
	const problem = page.locator('.deletions .problem');
	await problem.waitFor();
	expect(await problem.textContent()).toMatch(
		/^(1 of 3 lifelogs wasn't|[23] of 3 lifelogs weren't) deleted: Try again later$/,
	);
	expect(await findings(page)).toEqual([]);
	await page.click('.deletions >> text=Try again');
	await page.waitForFunction(() => document.querySelectorAll('.deletions button').length === 2);
	await page.click('.deletions >> text=Keep');
	await page.waitForSelector('.deletions .notice', { state: 'detached' });
	expect(await left(server)).toContain('m3');
	await page.waitForSelector('.result >> text=3');
	// The browser logs each 409 itself.
	expect(wrong.splice(0).filter((each) => !each.includes('409'))).toEqual([]);
});
