// Words are corrected in all lifelogs on the page of lifelog-server, in Chromium.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import {
	ask,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { looksRight, usePages } from '../support/openPage.mts';
import { until } from '../support/soon.mts';
import { CHANGING, ZONE } from './days.mts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;

const TALKS = [
	['Ask quick carbon first', 'Quick carbon it is, not quick carbons'],
	['We like quick carbon and QUICK CARBON'],
	['Nothing here'],
];

const { open, openReadOnly, serve } = usePages();

/** Writes an archive with a lifelog a day, the newest first. Each text is a line. */
async function writeTalks(talks: string[][]): Promise<string> {
	const folder = temporaryFolder();
	const lifelogs = talks.map((texts, nth) => {
		const startMs = NOON - nth * DAY_MS;
		const contents = texts.map((content, at) => ({
			...{ type: 'blockquote', content, speakerName: 'Anna', startOffsetMs: at * 1000 },
			startTime: new Date(startMs + at * 1000).toISOString(),
			endTime: new Date(startMs + at * 1000 + 800).toISOString(),
		}));
		const title = `Talk ${nth}`;
		return lifelogOf(`talk${nth}`, new Date(startMs).toISOString(), { title, contents });
	});
	await writeArchive(folder, { lifelogs });
	return folder;
}

const serveTalks = async (talks: string[][]) => await serve(await writeTalks(talks), CHANGING);

/** The lines of a lifelog as the API has them. */
async function textsOf(server: SpawnedServer, nth: number): Promise<string[]> {
	const { data } = await (await ask(server, `/v1/lifelogs/talk${nth}`)).json();
	return data.lifelog.contents.map(({ content }: { content: string }) => content);
}

/** Replaces words as another program. */
async function replace(server: SpawnedServer, heard: string, right: string): Promise<void> {
	const { status } = await ask(server, '/v1/replacements', {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ heard, right }),
	});
	expect(status).toBe(201);
}

/** Writes another text into the first line of the newest lifelog, by keys. */
async function correct(page: Page, text: string): Promise<void> {
	await page.goto('/lifelogs/talk0');
	await page.waitForSelector('.said');
	await page.keyboard.press('i');
	await page.getByLabel('Text').fill(text);
	await page.keyboard.press('Enter');
	await page.waitForFunction((now) => document.querySelector('.said')?.textContent === now, text);
}

/** Serves an archive with a replacement that only one of two lifelogs has, as a server leaves it that was killed. */
async function serveInterrupted(): Promise<SpawnedServer> {
	const folder = await writeTalks(TALKS);
	const first = await startLifelogServer(folder, CHANGING);
	await replace(first, 'quick carbon', 'Quickcarbon');
	await giveBack(first, 0, 'Ask Quickcarbon first');
	await giveBack(first, 1, 'We like Quickcarbon and Quickcarbon');
	await first.close();
	const path = join(folder, 'replacements.json');
	writeFileSync(path, readFileSync(path, 'utf8').replace(/"isDone": ?true/, '"isDone": false'));
	return await serve(folder, CHANGING);
}

/** Gives the first line of a lifelog its recorded text. */
async function giveBack(server: SpawnedServer, nth: number, was: string): Promise<void> {
	const { status } = await ask(server, `/v1/lifelogs/talk${nth}`, {
		method: 'PATCH',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ lines: [{ startOffsetMs: 0, was, text: null }] }),
	});
	expect(status).toBe(200);
}

/** Holds previews and replacements until the returned function is called. */
async function hold(page: Page): Promise<() => void> {
	let release = () => {};
	const held = new Promise<void>((resolve) => (release = resolve));
	await page.route('**/v1/replacements', async (route) => {
		if (route.request().method() === 'POST') await held;
		await route.continue();
	});
	return release;
}

const offer = (page: Page) => page.locator('.offer');
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Correct in all lifelogs' });
const rows = (page: Page) => page.locator('.people > li');

describe('words', () => {
	test('that were corrected in a line are in all lifelogs, and taken back', async () => {
		const server = await serveTalks(TALKS);
		const { page } = await open(server);
		await correct(page, 'Ask Quickcarbon first');
		await offer(page).getByText('Correct “quick carbon” to “Quickcarbon” in 2 lifelogs?').waitFor();
		await looksRight(page);
		await page.keyboard.press('y');
		await dialog(page).getByText('2 lines in 2 lifelogs').waitFor();
		expect(await dialog(page).getByLabel('Heard').inputValue()).toBe('quick carbon');
		expect(await dialog(page).getByLabel('Right').inputValue()).toBe('Quickcarbon');
		expect(await dialog(page).locator('li p').allTextContents()).toEqual([
			'Quick carbon Quickcarbon it is, not quick carbons',
			'We like quick carbon and QUICK CARBON Quickcarbon and Quickcarbon',
		]);
		await looksRight(page);
		await dialog(page).getByRole('button', { name: 'Correct' }).click();
		await dialog(page).getByText('“quick carbon” is now “Quickcarbon” in 2 lifelogs.').waitFor();
		await looksRight(page);
		await page.waitForSelector('.said >> text="Quickcarbon it is, not quick carbons"');
		expect(await textsOf(server, 1)).toEqual(['We like Quickcarbon and Quickcarbon']);
		await dialog(page).getByRole('button', { name: 'Take back' }).press('Enter');
		await dialog(page).getByText('Taken back.').waitFor();
		await dialog(page).getByText('2 lines in 2 lifelogs').waitFor();
		await dialog(page).getByLabel('Heard').and(page.locator(':focus')).waitFor();
		await page.keyboard.press('Escape');
		await dialog(page).waitFor({ state: 'detached' });
		await page.locator('[data-line="0"] .edit-line:focus').waitFor();
		await page.waitForSelector('.said >> text="Quick carbon it is, not quick carbons"');
		// What somebody has typed stays.
		expect(await textsOf(server, 0)).toEqual(['Ask Quickcarbon first', TALKS[0]![1]]);
		expect(await textsOf(server, 1)).toEqual(TALKS[1]);
	});

	test('can be changed before they are corrected', async () => {
		const server = await serveTalks(TALKS);
		const { page, wrong } = await open(server);
		await correct(page, 'Ask Quickcarbon first');
		await offer(page).getByRole('button', { name: 'Correct “quick carbon”' }).click();
		const submit = dialog(page).getByRole('button', { name: 'Correct' });
		await dialog(page).getByText('2 lines in 2 lifelogs').waitFor();
		await page.keyboard.press('ControlOrMeta+a');
		await page.keyboard.type('nowhere');
		await dialog(page).getByText('No line has these words.').waitFor();
		expect(await submit.isDisabled()).toBe(true);
		await dialog(page).getByLabel('Heard').fill('...');
		await dialog(page).getByText('heard has no letter').waitFor();
		expect(await submit.isDisabled()).toBe(true);
		await dialog(page).getByLabel('Heard').fill('like');
		await dialog(page).getByLabel('Right').fill(`$& <b>$'</b> \u202ex`);
		await submit.and(page.locator(':enabled')).waitFor();
		await dialog(page).getByText('1 line in 1 lifelog').waitFor();
		await dialog(page).getByLabel('Right').and(page.locator(':focus')).waitFor();
		await page.keyboard.press('Enter');
		await dialog(page).getByText('in 1 lifelog.').waitFor();
		expect(await textsOf(server, 1)).toEqual([
			`We $& <b>$'</b> \u202ex quick carbon and QUICK CARBON`,
		]);
		await dialog(page).getByRole('link', { name: 'All corrected words' }).click();
		await page.waitForURL('**/words');
		await rows(page).getByRole('heading', { name: 'like' }).waitFor();
		expect(wrong.splice(0).filter((each) => !each.includes('400'))).toEqual([]);
	});

	test('are corrected only once the lines to change are shown', async () => {
		const { page } = await open(await serveTalks(TALKS));
		await correct(page, 'Ask Quickcarbon first');
		await offer(page).waitFor();
		await page.keyboard.press('y');
		const submit = dialog(page).getByRole('button', { name: 'Correct' });
		await submit.and(page.locator(':enabled')).waitFor();
		const release = await hold(page);
		const asked = page.waitForRequest('**/v1/replacements');
		await dialog(page).getByLabel('Heard').fill('it is');
		await asked;
		await dialog(page).getByText('2 lines in 2 lifelogs').waitFor();
		expect(await submit.isDisabled()).toBe(true);
		release();
		await submit.and(page.locator(':enabled')).waitFor();
		await dialog(page).getByText('1 line in 1 lifelog').waitFor();
		// The same words are shown already.
		await dialog(page).getByLabel('Heard').press('x');
		await dialog(page).getByLabel('Heard').press('Backspace');
		await submit.and(page.locator(':enabled')).waitFor();
	});

	test('are offered only if others have them, and can be left alone', async () => {
		const { page } = await open(await serveTalks([['One of us'], ['to them']]));
		const asked: string[] = [];
		page.on('request', (request) => {
			if (request.url().endsWith('/v1/replacements')) asked.push(request.postData()!);
		});
		for (const text of ['One of them', 'One of all of them', 'All of them']) {
			await correct(page, text);
			await page.waitForLoadState('networkidle');
			expect(await offer(page).count()).toBe(0);
		}
		// Nothing was asked about words that were only added.
		expect(asked.map((each) => JSON.parse(each).heard)).toEqual(['us', 'One of all']);
		await correct(page, 'All of you');
		await offer(page).getByText('Correct “them” to “you” in 1 lifelog?').waitFor();
		await offer(page).getByRole('button', { name: 'No' }).click();
		await offer(page).waitFor({ state: 'detached' });
	});

	test('are listed, and taken back there', async () => {
		const server = await serveTalks(TALKS);
		await replace(server, 'quick carbon', 'Quickcarbon');
		await replace(server, 'Nothing', 'Something');
		const { page } = await open(server);
		await page.goto('/people');
		await page.getByRole('link', { name: 'Corrected words' }).waitFor();
		await page.keyboard.press('w');
		await page.waitForURL('**/words');
		await rows(page).first().waitFor();
		expect(await rows(page).locator('h2').allTextContents()).toEqual([
			'“Nothing” → “Something”',
			'“quick carbon” → “Quickcarbon”',
		]);
		expect(await rows(page).last().textContent()).toContain('3 lines in 2 lifelogs');
		await looksRight(page);
		await page.getByRole('button', { name: 'Take back: quick carbon' }).click();
		await until(async () => (await rows(page).count()) === 1);
		const next = page.getByRole('button', { name: 'Take back: Nothing' });
		await next.and(page.locator(':focus')).waitFor();
		expect(await textsOf(server, 0)).toEqual(TALKS[0]);
		expect(await textsOf(server, 2)).toEqual(['Something here']);
		await next.press('Enter');
		await page.getByText('No words are corrected in all lifelogs yet.').waitFor();
		await page.locator('main:focus').waitFor();
		expect(await textsOf(server, 2)).toEqual(TALKS[2]);
	});

	test('of which only some lifelogs have the right ones, can be finished or taken back', async () => {
		const { page } = await open(await serveInterrupted());
		await page.goto('/words');
		await rows(page).getByText('1 of 2 lifelogs have it now').waitFor();
		await looksRight(page);
		await page.getByRole('button', { name: 'Finish: quick carbon' }).click();
		await page.locator('.progress').waitFor({ state: 'detached' });
		expect(await rows(page).count()).toBe(1);
		await page.goto('/lifelogs/talk1');
		await page.waitForSelector('.said >> text="We like Quickcarbon and Quickcarbon"');
	});

	test('show how far they are while they are corrected, also without the dialog', async () => {
		const server = await serveInterrupted();
		const { page } = await open(server);
		await correct(page, 'Ask Quickcarbon first');
		await offer(page).getByText('in 1 lifelog?').waitFor();
		await page.keyboard.press('y');
		await dialog(page).getByText('1 line in 1 lifelog').waitFor();
		const release = await hold(page);
		await dialog(page).getByRole('button', { name: 'Correct' }).click();
		await dialog(page).getByText('1 of 2 lifelogs', { exact: true }).waitFor();
		await page.keyboard.press('Escape');
		await dialog(page).waitFor({ state: 'detached' });
		await page.keyboard.press('g');
		await page.waitForURL('**/people');
		await page.keyboard.press('w');
		await rows(page).getByText('1 of 2 lifelogs have it now').waitFor();
		release();
		await page.locator('.progress').waitFor({ state: 'detached' });
		expect(await textsOf(server, 1)).toEqual(['We like Quickcarbon and Quickcarbon']);
	});

	test('can only be read without --allow-changes, and with a read-only key', async () => {
		const folder = await writeTalks(TALKS);
		const first = await startLifelogServer(folder, CHANGING);
		await replace(first, 'Nothing', 'Something');
		await first.close();
		const seesNoButton = async (page: Page) => {
			await page.goto('/words');
			await rows(page).first().waitFor();
			expect(await page.locator('main button').allTextContents()).toEqual([]);
		};
		const reading = await startLifelogServer(folder, ['--timezone', ZONE]);
		const reader = await open(reading);
		await seesNoButton(reader.page);
		await reader.context.close();
		await reading.close();
		await seesNoButton(await openReadOnly(await serve(folder, CHANGING), folder));
	});
});
