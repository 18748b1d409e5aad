// Lines of a transcript are edited on the page of lifelog-server, in Chromium.
import type { Page } from 'playwright-core';
import { ask, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { serverKey } from '../support/lifelogServer.mts';
import { tone } from '../support/longTalk.mts';
import { looksRight, usePages } from '../support/openPage.mts';
import { CHANGING, ZONE } from './days.mts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const AUDIO_S = 30;
const HOSTILE = `<img src=x onerror="hacked=1"> $& $' \u202e&lt;b&gt; ‘x’ {{x}}`;

const { open, openReadOnly, serve } = usePages();

/** Lines of a lifelog, a second each. */
const lines = (...said: [speaker: string | null, text: string][]) =>
	said.map(([speakerName, content], nth) => ({
		...{ type: 'blockquote', content, speakerName, startOffsetMs: nth * 1000 },
		startTime: new Date(NOON + nth * 1000).toISOString(),
		endTime: new Date(NOON + nth * 1000 + 800).toISOString(),
	}));

/** Writes an archive with a lifelog, `talk`, and the audio of its first half minute. */
async function writeTalk(contents: ReturnType<typeof lines>): Promise<string> {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [lifelogOf('talk', new Date(NOON).toISOString(), { title: 'Talk', contents })],
		audio: [{ startMs: NOON, endMs: NOON + 1000 * AUDIO_S, content: tone(0, AUDIO_S) }],
	});
	return folder;
}

const serveTalk = async (...said: Parameters<typeof lines>) =>
	await serve(await writeTalk(lines(...said)), CHANGING);

/** The lines of the lifelog as the API has them. */
async function linesIn(server: SpawnedServer): Promise<[speaker: string | null, text: string][]> {
	const { data } = await (await ask(server, '/v1/lifelogs/talk')).json();
	return data.lifelog.contents.map(({ speakerName, content }: Record<string, string>) => [
		speakerName,
		content,
	]);
}

/** Changes a line as another program. */
async function change(server: SpawnedServer, line: object): Promise<void> {
	const { status } = await ask(server, '/v1/lifelogs/talk', {
		method: 'PATCH',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ lines: [line] }),
	});
	expect(status).toBe(200);
}

const lineAt = (page: Page, nth: number) => page.locator(`[data-line="${nth}"]`);
const said = (page: Page) => page.locator('.said').allTextContents();
const textOf = (page: Page, nth: number) => lineAt(page, nth).getByLabel('Text');
const speakerOf = (page: Page, nth: number) => lineAt(page, nth).getByLabel('Speaker');
const isPaused = (page: Page) => page.evaluate(() => document.querySelector('audio')!.paused);
const focused = (page: Page) =>
	page.evaluate(() => {
		const { activeElement } = document;
		const line = activeElement?.closest<HTMLElement>('[data-line]')?.dataset.line;
		return `${activeElement?.className} ${line}`;
	});

/** Opens the lifelog, and waits for its lines and its audio. */
async function visit(page: Page): Promise<void> {
	await page.goto('/lifelogs/talk');
	await page.waitForSelector('.said');
	await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) > 0);
}

/** Opens the fields of a line by a click. */
async function edit(page: Page, nth: number): Promise<void> {
	await lineAt(page, nth).hover();
	await lineAt(page, nth)
		.getByRole('button', { name: /^Edit the line/ })
		.click();
	await textOf(page, nth).and(page.locator(':focus')).waitFor();
}

const save = (page: Page, nth: number) =>
	lineAt(page, nth).getByRole('button', { name: 'Save' }).click();

/** What is logged about requests that were refused, apart from which everything is right. */
const refused = (wrong: string[], ...statuses: number[]) =>
	wrong.splice(0).filter((each) => !statuses.some((status) => each.includes(String(status))));

describe('a line of a transcript', () => {
	test('is edited in place, text and speaker, and given back as recorded', async () => {
		const server = await serveTalk(
			['SPEAKER_00', 'Helo there'],
			['SPEAKER_00', 'One of us'],
			['Anna', 'Yes'],
		);
		const { page } = await open(server);
		await visit(page);
		await edit(page, 0);
		await looksRight(page);
		await page.setViewportSize({ width: 1280, height: 860 });
		expect(await textOf(page, 0).inputValue()).toBe('Helo there');
		expect(await speakerOf(page, 0).inputValue()).toBe('Speaker 1');
		// Others stay as they are meanwhile.
		expect(await said(page)).toEqual(['One of us', 'Yes']);
		await textOf(page, 0).fill('Hello there');
		await save(page, 0);
		await page.waitForSelector('.said >> text="Hello there"');
		expect((await linesIn(server))[0]).toEqual(['SPEAKER_00', 'Hello there']);

		await edit(page, 1);
		const names = lineAt(page, 1).locator('datalist option');
		await names.first().waitFor({ state: 'attached' });
		expect(
			await names.evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value)),
		).toEqual(['Speaker 1', 'Anna']);
		await speakerOf(page, 1).fill('Anna');
		await save(page, 1);
		await lineAt(page, 1).locator('.speaker >> text="Anna"').waitFor();
		expect(await linesIn(server)).toEqual([
			['SPEAKER_00', 'Hello there'],
			['Anna', 'One of us'],
			['Anna', 'Yes'],
		]);
		// A label is chosen by how it is shown.
		await edit(page, 2);
		await speakerOf(page, 2).fill('Speaker 1');
		await save(page, 2);
		await lineAt(page, 2).locator('.speaker >> text="Speaker 1"').waitFor();
		expect((await linesIn(server))[2]).toEqual(['SPEAKER_00', 'Yes']);

		for (const nth of [0, 1, 2]) {
			await edit(page, nth);
			await lineAt(page, nth).getByRole('button', { name: 'As recorded' }).click();
			await page.waitForSelector('.line-form', { state: 'detached' });
		}
		await page.waitForSelector('.said >> text="Helo there"');
		expect(await linesIn(server)).toEqual([
			['SPEAKER_00', 'Helo there'],
			['SPEAKER_00', 'One of us'],
			['Anna', 'Yes'],
		]);
	});

	test('is edited by keys: that with the focus, else the one that plays', async () => {
		const server = await serveTalk(['Anna', 'One'], ['Anna', 'Two'], ['Ben', 'Tree']);
		const { page } = await open(server);
		await visit(page);
		await page.keyboard.press('?');
		await page.getByRole('dialog').getByText('Press i to edit the line').waitFor();
		await page.keyboard.press('Escape');
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		// Without either, the first one.
		await page.evaluate(() => (document.activeElement as HTMLElement).blur());
		await page.keyboard.press('i');
		await textOf(page, 0).and(page.locator(':focus')).waitFor();
		// Typing triggers no key of the page or the player.
		await page.keyboard.type(' bfdnkview? *');
		await page.keyboard.press('ArrowLeft');
		await page.keyboard.press('Delete');
		expect(await textOf(page, 0).inputValue()).toBe('One bfdnkview? ');
		expect(await isPaused(page)).toBe(true);
		expect(await page.evaluate(() => document.querySelector('audio')!.currentTime)).toBe(0);
		expect(await page.getByRole('dialog').count()).toBe(0);
		await page.keyboard.press('Escape');
		await page.waitForFunction(() => document.activeElement?.matches('.edit-line'));
		expect(await focused(page)).toMatch(/^edit-line .* 0$/);
		expect(await said(page)).toEqual(['One', 'Two', 'Tree']);

		// ↑ and ↓ go by lines, from wherever nothing has the focus. Tab goes on in a line.
		await page.evaluate(() => (document.activeElement as HTMLElement).blur());
		await page.keyboard.press('ArrowDown');
		expect(await focused(page)).toMatch(/^time.* 0$/);
		await page.keyboard.press('ArrowDown');
		expect(await focused(page)).toMatch(/^time.* 1$/);
		await page.keyboard.press('ArrowDown');
		expect(await focused(page)).toMatch(/^time.* 2$/);
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('Tab');
		expect(await focused(page)).toMatch(/^edit-line .* 1$/);
		await page.keyboard.press('Tab');
		expect(await focused(page)).toMatch(/undefined$/);
		await page.keyboard.press('Shift+Tab');
		await page.keyboard.press('Enter');
		await textOf(page, 1).and(page.locator(':focus')).waitFor();
		await page.keyboard.press('Tab');
		await page.keyboard.press('Escape');
		await page.waitForSelector('.line-form', { state: 'detached' });

		await lineAt(page, 2).locator('.said').click();
		await page.waitForSelector('[data-line="2"] .said[aria-current]');
		await page.keyboard.press('Space');
		await page.evaluate(() => (document.activeElement as HTMLElement).blur());
		await page.keyboard.press('i');
		await textOf(page, 2).and(page.locator(':focus')).waitFor();
		await page.keyboard.press('ControlOrMeta+a');
		await page.keyboard.type('Three');
		await page.keyboard.press('Enter');
		await page.waitForSelector('.said >> text="Three"');
		await page.waitForFunction(() => document.activeElement?.matches('.edit-line'));
		expect(await focused(page)).toMatch(/^edit-line .* 2$/);
		expect(await linesIn(server)).toEqual([
			['Anna', 'One'],
			['Anna', 'Two'],
			['Ben', 'Three'],
		]);
	});

	test('can be any text, which is shown and nothing else', async () => {
		const server = await serveTalk([null, HOSTILE], [HOSTILE, 'Two']);
		const { page } = await open(server);
		await visit(page);
		await edit(page, 0);
		expect(await textOf(page, 0).inputValue()).toBe(HOSTILE);
		// A pasted line break becomes a blank.
		await textOf(page, 0).fill(`${HOSTILE}\n${HOSTILE}`);
		await speakerOf(page, 0).fill('__proto__');
		await save(page, 0);
		await page.waitForSelector('.speaker >> text="__proto__"');
		expect(await said(page)).toEqual([`${HOSTILE} ${HOSTILE}`, 'Two']);
		expect((await linesIn(server))[0]).toEqual(['__proto__', `${HOSTILE} ${HOSTILE}`]);
		expect(await page.evaluate(() => (globalThis as { hacked?: unknown }).hacked)).toBeUndefined();
	});

	test('keeps what is typed if saving fails, and while others are edited', async () => {
		const server = await serveTalk(['Anna', 'One'], ['Anna', 'Two']);
		const { page, wrong, context } = await open(server);
		await visit(page);
		await edit(page, 0);
		await textOf(page, 0).fill('First');
		await page.route('**/v1/lifelogs/talk', (route) => route.abort());
		await save(page, 0);
		await lineAt(page, 0).getByRole('alert').getByText("The server isn't responding.").waitFor();
		expect(await textOf(page, 0).inputValue()).toBe('First');
		await page.unroute('**/v1/lifelogs/talk');
		await textOf(page, 0).fill('First\u0007');
		await save(page, 0);
		await lineAt(page, 0).getByRole('alert').getByText('control character').waitFor();
		await textOf(page, 0).fill('First');
		await edit(page, 1);
		await textOf(page, 1).fill('Second');
		expect(await textOf(page, 0).inputValue()).toBe('First');

		// The session has ended meanwhile.
		await context.clearCookies();
		await save(page, 1);
		await page.fill('#key', serverKey);
		await page.keyboard.press('Enter');
		await page.waitForSelector('.line-form');
		expect(await textOf(page, 0).inputValue()).toBe('First');
		expect(await textOf(page, 1).inputValue()).toBe('Second');
		await save(page, 1);
		await page.waitForSelector('.said >> text="Second"');
		await save(page, 0);
		await page.waitForSelector('.said >> text="First"');
		expect(await linesIn(server)).toEqual([
			['Anna', 'First'],
			['Anna', 'Second'],
		]);
		expect(refused(wrong, 400, 401)).toEqual(['Failed to load resource: net::ERR_FAILED']);
	});

	test('says what it is now if somebody else has changed it', async () => {
		const server = await serveTalk(['Anna', 'One'], ['Anna', 'Two']);
		const { page, wrong } = await open(server);
		await visit(page);
		await edit(page, 0);
		await textOf(page, 0).fill('Mine');
		await change(server, { startOffsetMs: 0, was: 'One', text: 'Theirs', speaker: 'Ben' });
		await save(page, 0);
		const form = lineAt(page, 0).locator('form');
		await form.getByRole('alert').getByText('This line has changed meanwhile.').waitFor();
		await form.getByText('Theirs', { exact: true }).waitFor();
		expect(await textOf(page, 0).inputValue()).toBe('Mine');
		expect((await linesIn(server))[0]).toEqual(['Ben', 'Theirs']);
		await save(page, 0);
		await page.waitForSelector('.said >> text="Mine"');
		expect((await linesIn(server))[0]).toEqual(['Ben', 'Mine']);
		expect(refused(wrong, 409)).toEqual([]);
	});

	test('is scrolled back when somebody types after scrolling away', async () => {
		const many = Array.from({ length: 500 }, (_, nth): [string, string] => ['Anna', `Line ${nth}`]);
		const { page } = await open(await serveTalk(...many));
		await visit(page);
		await edit(page, 4);
		await page.keyboard.type(' and');
		await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
		await textOf(page, 4).waitFor({ state: 'detached' });
		await page.keyboard.press('Space');
		await textOf(page, 4).and(page.locator(':focus')).waitFor();
		await page.keyboard.type(' more');
		expect(await textOf(page, 4).inputValue()).toBe('Line 4 and more');
		expect(await isPaused(page)).toBe(true);
		await page.keyboard.press('Enter');
		await page.waitForSelector('.said >> text="Line 4 and more"');
	});

	test('can only be read without --allow-changes, and with a read-only key', async () => {
		const seesNoEditing = async (page: Page) => {
			await visit(page);
			await lineAt(page, 0).locator('.said').click();
			await page.waitForSelector('.said[aria-current]');
			await page.keyboard.press('i');
			expect(await page.locator('.edit-line, .line-form').count()).toBe(0);
		};
		const said = lines(['Anna', 'One']);
		const reading = await serve(await writeTalk(said), ['--timezone', ZONE]);
		await seesNoEditing((await open(reading)).page);
		const folder = await writeTalk(said);
		await seesNoEditing(await openReadOnly(await serve(folder, CHANGING), folder));
	});
});
