// What the page offers for recordings that have no lifelog, and for lifelogs that were made here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import {
	ask,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../server/sources.mts';
import { startChat, type ChatEndpoint } from '../support/chat.mts';
import { findings, usePages } from '../support/openPage.mts';
import { hearTones, makeTones } from '../support/tones.mts';
import { startTranscription, type TranscriptionEndpoint } from '../support/transcription.mts';

let endpoint: TranscriptionEndpoint;
let chat: ChatEndpoint;
let server: SpawnedServer;
const files = temporaryFolder();
const { open } = usePages();

beforeAll(async () => {
	endpoint = await startTranscription();
	chat = await startChat();
	server = await startLifelogServer(temporaryFolder(), [
		...['--timezone', 'Europe/Berlin', '--allow-changes', '--allow-delete'],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
		...['--chat-url', chat.url, '--chat-model', 'gemma'],
	]);
});
beforeEach(() => {
	endpoint.instead = endpoint.fault = undefined;
	endpoint.refuses = [];
	chat.says = 'no JSON';
});
afterAll(async () => {
	await server?.close();
	await chat?.close();
	await endpoint?.close();
});

/** Tones of a length that no other recording has. */
async function tones(name: string, seconds: number): Promise<string> {
	await makeTones(join(files, name), { seconds });
	return join(files, name);
}

/** Opens the recordings and uploads a file. */
async function upload(path: string) {
	const opened = await open(server);
	await opened.page.goto('/recordings');
	await opened.page.setInputFiles('input[type=file]', path);
	return opened;
}

const rowOf = (page: Page, name: string, status: string) =>
	page.locator(`.recording.${status}`, { hasText: name });

/** Expects that axe-core finds nothing, and that nothing is wider than the page. */
async function expectUsable(page: Page): Promise<void> {
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: 740 });
			const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
			const found = [colorScheme, scroll, await findings(page)];
			expect(found).toEqual([colorScheme, width, []]);
		}
	}
}

/** Plays the audio of a recording to its end, and returns how long it is in seconds. */
async function playedSeconds(row: Locator): Promise<number> {
	return await row.locator('audio').evaluate(async (audio: HTMLAudioElement) => {
		await audio.play();
		await new Promise((resolve) => audio.addEventListener('ended', resolve));
		return audio.currentTime;
	});
}

async function download(page: Page, row: Locator): Promise<{ name: string; path: string }> {
	const [file] = await Promise.all([
		page.waitForEvent('download'),
		row.getByText('Download').click(),
	]);
	return { name: file.suggestedFilename(), path: await file.path() };
}

test('a recording that failed can be played, downloaded, and retried in another language', async () => {
	const path = await tones('refused.wav', 3);
	endpoint.refuses = ['verbose_json', 'json'];
	const { page } = await upload(path);
	const failed = rowOf(page, 'refused.wav', 'failed');
	await failed.waitFor();
	await expectUsable(page);
	expect(Math.abs((await playedSeconds(failed)) - 3)).toBeLessThan(0.2);
	const { name, path: downloaded } = await download(page, failed);
	expect(name).toBe('refused.wav');
	expect(readFileSync(downloaded)).toEqual(readFileSync(path));

	const language = failed.getByLabel('Language of refused.wav');
	expect(await language.inputValue()).toBe('');
	for (const [chosen, sent] of [
		['German', 'de'],
		['Same language', 'de'],
		['Detect language', undefined],
	]) {
		await language.selectOption({ label: chosen });
		const asked = endpoint.asked.length;
		const answer = page.waitForResponse((response) => response.url().endsWith('/retry'));
		await failed.getByRole('button', { name: 'Retry refused.wav' }).click();
		expect((await answer).status()).toBe(200);
		// Refused in both forms.
		while (endpoint.asked.length < asked + 2) await page.waitForTimeout(20);
		expect([chosen, endpoint.asked.at(-1)!.fields.language]).toEqual([chosen, sent]);
		await failed.waitFor();
	}
	endpoint.refuses = [];
	await failed.getByRole('button', { name: 'Retry refused.wav' }).click();
	const done = rowOf(page, 'refused.wav', 'done');
	await done.waitFor();
	expect(await done.locator('audio, select').count()).toBe(0);
});

test('a recording without speech can be played and downloaded', async () => {
	endpoint.instead = () => ({ text: '', segments: [] });
	const { page } = await upload(await tones('nobody.mp3', 4));
	const row = rowOf(page, 'nobody.mp3', 'done');
	await row.getByText('No speech was found.').waitFor();
	await expectUsable(page);
	expect(Math.abs((await playedSeconds(row)) - 4)).toBeLessThan(0.2);
	const { name, path } = await download(page, row);
	expect(name).toBe('nobody.ogg');
	expect((await hearTones(path)).map(({ second }) => second)).toEqual([0, 1, 2, 3]);
});

test('a file whose lifelog was deleted is added again only on request', async () => {
	const path = await tones('again.wav', 5);
	const { page } = await upload(path);
	const row = rowOf(page, 'again.wav', 'done');
	const first = (await row.getByText('Open the lifelog').getAttribute('href'))!;
	await ask(server, `/v1${first}`, { method: 'DELETE' });
	await page.reload();
	await row.getByText('Its lifelog was deleted.').waitFor();
	expect(await row.locator('audio').count()).toBe(0);
	await page.setInputFiles('input[type=file]', path);
	const again = page.getByRole('button', { name: 'Add again.wav again' });
	await again.waitFor();
	expect(await page.locator('.upload .notice').textContent()).toContain(
		"Its lifelog was deleted, so it wasn't added again.",
	);
	await expectUsable(page);
	await again.click();
	const link = page.locator('.recording.done:has-text("again.wav") >> text=Open the lifelog');
	const second = (await link.getAttribute('href'))!;
	expect(second).not.toBe(first);
	expect(await page.locator('.upload .notice').count()).toBe(0);
	await link.click();
	await page.waitForSelector('.transcript .said');
	expect(await page.locator('.transcript .said').count()).toBe(5);
});

test('the title and headings of a lifelog that was made here are written on request', async () => {
	const { page, wrong } = await upload(await tones('untitled.wav', 6));
	await rowOf(page, 'untitled.wav', 'done').getByText('Open the lifelog').click();
	await page.waitForSelector('.transcript .said');
	const before = (await page.textContent('h1'))!;
	expect(before).toContain('Tone 0.');
	await page.getByRole('button', { name: 'Write title and headings' }).click();
	await page.waitForSelector('.actions [role=alert]:not(:empty)');
	expect(await page.textContent('h1')).toBe(before);
	await expectUsable(page);
	// The browser logs the failure itself.
	expect(wrong.splice(0)).toHaveLength(1);
	chat.says = {
		title: 'Six tones',
		headings: [
			{ title: 'Low', segment: 0 },
			{ title: 'Middle', segment: 2 },
			{ title: 'High', segment: 4 },
		],
	};
	await page.evaluate(() => (document.activeElement as HTMLElement).blur());
	await page.keyboard.press('w');
	await page.waitForSelector('h1:has-text("Six tones")');
	expect(await page.locator('.contents button').allTextContents()).toEqual([
		'Low',
		'Middle',
		'High',
	]);
	expect(await page.locator('.actions [role=alert]:not(:empty)').count()).toBe(0);
	await expectUsable(page);
});

test('a recording is transcribed again from its lifelog, and names from before are offered', async () => {
	const heard = (text: string, speaker: string) => () => ({
		segments: [{ text, speaker, start: 0, end: 4 }],
	});
	endpoint.instead = heard('Quick carbon.', 'SPEAKER_00');
	const { page } = await upload(await tones('heard badly.wav', 7));
	await rowOf(page, 'heard badly.wav', 'done').getByText('Open the lifelog').click();
	await page.locator('.speaker button').click();
	const panel = page.getByRole('dialog', { name: 'Name a speaker' });
	await panel.getByLabel('Name', { exact: true }).fill('Anna');
	await panel.getByRole('button', { name: 'Save' }).click();
	await page.locator('.speaker', { hasText: 'Anna' }).waitFor();

	endpoint.refuses = ['verbose_json', 'json'];
	const again = page.getByRole('button', { name: 'Transcribe again' });
	const question = page.getByRole('dialog', { name: 'Transcribe again' });
	await page.keyboard.press('u');
	await question.waitFor();
	await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
	await expectUsable(page);
	await page.keyboard.press('Enter');
	await again.click();
	await question.getByRole('button', { name: 'Transcribe' }).click();
	await page.locator('.again', { hasText: 'Transcribing again' }).waitFor();
	await expectUsable(page);
	await page.locator('.actions [role=alert]', { hasText: "It wasn't transcribed again" }).waitFor();
	expect(await page.locator('.transcript .said').allTextContents()).toEqual(['Quick carbon.']);

	endpoint.refuses = [];
	endpoint.instead = heard('Quickcarbon.', 'SPEAKER_00');
	await again.click();
	await question.getByRole('button', { name: 'Transcribe' }).click();
	await page.locator('.said', { hasText: 'Quickcarbon.' }).waitFor();
	await page.getByRole('status').getByText('Transcribed again.').waitFor();
	await again.waitFor();
	expect(await page.locator('.actions [role=alert]:not(:empty)').count()).toBe(0);
	await page.locator('.speaker button', { hasText: 'Speaker 1' }).click();
	await panel.getByRole('button', { name: 'Anna' }).click();
	await expectUsable(page);
	await panel.getByRole('button', { name: 'Save' }).click();
	await page.locator('.speaker', { hasText: 'Anna' }).waitFor();
});

test('somebody who has left before a recording was transcribed again stays where they are', async () => {
	const { page } = await upload(await tones('left.wav', 9));
	await rowOf(page, 'left.wav', 'done').getByText('Open the lifelog').click();
	// Nobody speaks any more, so that the page would leave the lifelog.
	endpoint.instead = () => ({ segments: [] });
	let goOn!: () => void;
	const left = new Promise<void>((resolve) => (goOn = resolve));
	let isDone!: () => void;
	const done = new Promise<void>((resolve) => (isDone = resolve));
	await page.route('**/v1/recordings/*', async (route) => {
		const response = await route.fetch();
		const { recording } = (await response.json()).data;
		if (recording.status === 'done') {
			isDone();
			await left;
		}
		await route.fulfill({ response });
	});
	await page.getByRole('button', { name: 'Transcribe again' }).click();
	const question = page.getByRole('dialog', { name: 'Transcribe again' });
	await question.getByRole('button', { name: 'Transcribe' }).click();
	await done;
	await page.getByRole('link', { name: 'People' }).click();
	await page.getByRole('heading', { name: 'People' }).waitFor();
	const answered = page.waitForResponse('**/v1/recordings/*');
	goOn();
	await answered;
	await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
	expect(new URL(page.url()).pathname).toBe('/people');
});

test('a recording that waits to be transcribed again can stay as it was', async () => {
	const { page } = await upload(await tones('waits.wav', 8));
	const row = rowOf(page, 'waits.wav', 'done');
	await row.getByText('Open the lifelog').click();
	endpoint.fault = (response) => void response.writeHead(500).end();
	await page.getByRole('button', { name: 'Transcribe again' }).click();
	const question = page.getByRole('dialog', { name: 'Transcribe again' });
	await question.getByRole('button', { name: 'Transcribe' }).click();
	await page.locator('.again', { hasText: 'returned 500' }).waitFor();
	await expectUsable(page);
	await page.locator('.again a').click();
	const waiting = rowOf(page, 'waits.wav', 'queued');
	await waiting.getByRole('button', { name: 'Keep the present transcript of waits.wav' }).click();
	await expectUsable(page);
	await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
	await row.getByText('Open the lifelog').click();
	expect(await page.locator('.transcript .said').count()).toBe(8);
	await page.getByRole('button', { name: 'Transcribe again' }).waitFor();
});
