// People on the page of lifelog-server, and the names of speakers, in Chromium.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { ask, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { tone } from '../support/longTalk.mts';
import { findings, looksRight, usePages } from '../support/openPage.mts';
import { uploadTo, whenRecording } from '../support/recordings.mts';
import { until } from '../support/soon.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription } from '../support/transcription.mts';
import { CHANGING, ZONE } from './days.mts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
/** How long each line is said. The one after it begins a second later. */
const LINE_MS = 800;
const AUDIO_MS = 30_000;

/** A lifelog of an hour after noon, with a line for each speaker. */
function talk(hour: number, speakers: (string | null)[]) {
	const startMs = NOON + hour * HOUR_MS;
	const contents = speakers.map((speakerName, nth) => ({
		...{ type: 'blockquote', content: `Line ${nth}`, speakerName },
		startTime: new Date(startMs + nth * 1000).toISOString(),
		endTime: new Date(startMs + nth * 1000 + LINE_MS).toISOString(),
	}));
	const title = `Talk ${hour}`;
	return lifelogOf(`talk${hour}`, new Date(startMs).toISOString(), { title, contents });
}

const { closing, open, openReadOnly, serve } = usePages();

/** Serves lifelogs, the first of them with half a minute of audio. */
async function serveTalks(talks: (string | null)[][], args = CHANGING): Promise<SpawnedServer> {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: talks.map((speakers, hour) => talk(hour, speakers)),
		audio: [{ startMs: NOON, endMs: NOON + AUDIO_MS, content: tone(0, AUDIO_MS / 1000) }],
	});
	return await serve(folder, args);
}

/** The speakers of a lifelog, in the order of its lines. */
async function speakersIn(server: SpawnedServer, id: string): Promise<(string | null)[]> {
	const { data } = await (await ask(server, `/v1/lifelogs/${id}`)).json();
	return data.lifelog.contents.map(
		({ speakerName }: { speakerName: string | null }) => speakerName,
	);
}

const rows = (page: Page) => page.locator('.people > li');
const namesIn = (page: Page) => rows(page).locator('h2 a').allTextContents();
const panel = (page: Page) => page.getByRole('dialog', { name: 'Name a speaker' });
const speakerButton = (page: Page, name: string) =>
	page.locator('.speaker').getByRole('button', { name, exact: true }).first();

/** Opens the field for the name of a speaker. */
async function nameSpeaker(page: Page, speaker: string) {
	const field = panel(page);
	await speakerButton(page, speaker).waitFor();
	// A list that is still being laid out can move away under a click.
	await until(async () => {
		if (await field.isVisible()) return true;
		await speakerButton(page, speaker).click();
		return false;
	});
	return {
		field,
		type: (name: string) => field.getByLabel('Name', { exact: true }).fill(name),
		save: () => field.getByRole('button', { name: 'Save' }).click(),
	};
}

describe('people', () => {
	test('are listed with what they said, and can be searched and sorted', async () => {
		const server = await serveTalks([
			['Zoë Lang', 'SPEAKER_00', null],
			['Anna', 'Zoë Lang'],
			['Anna', 'Ben', 'You'],
		]);
		const { page } = await open(server);
		await page.goto('/people');
		await rows(page).first().waitFor();
		// Labels aren't people.
		await page.getByRole('status').getByText('3 people').waitFor();
		expect((await namesIn(page)).sort()).toEqual(['Anna', 'Ben', 'Zoë Lang']);
		const zoe = rows(page).filter({ hasText: 'Zoë Lang' });
		expect(await zoe.textContent()).toMatch(/2 lifelogs · 2 s spoken · last heard Mar 1, 2026/);
		await page.getByLabel('Sort').selectOption('Name');
		await page.waitForURL('**/people?sort=name');
		await page.waitForFunction(() => document.querySelector('.people h2')?.textContent === 'Anna');
		expect(await namesIn(page)).toEqual(['Anna', 'Ben', 'Zoë Lang']);
		await page.keyboard.press('Escape');
		await page.evaluate(() => (document.activeElement as HTMLElement).blur());
		await page.keyboard.press('f');
		await page.keyboard.type('zoe l');
		await page.waitForURL((url) => url.searchParams.get('search') === 'zoe l');
		await page.getByRole('status').getByText('1 person').waitFor();
		expect(await namesIn(page)).toEqual(['Zoë Lang']);
		await page.reload();
		await rows(page).first().waitFor();
		expect(await namesIn(page)).toEqual(['Zoë Lang']);
		await page.fill('input[type=search]', 'nobody');
		await page.getByText('Nobody has this name.').waitFor();
		await page.goto('/people');
		await rows(page).first().waitFor();
		await looksRight(page);
	});

	test('who has no name yet is told how to give one', async () => {
		const { page } = await open(await serveTalks([['SPEAKER_00', null]]));
		await page.goto('/people');
		await page.getByText('Nobody has a name yet.').waitFor();
	});

	test('a person lists the lifelogs, page by page', async () => {
		const server = await serveTalks(Array.from({ length: 30 }, () => ['Anna', 'Ben']));
		const { page } = await open(server);
		await page.goto('/people');
		await page.getByRole('link', { name: 'Ben' }).click();
		await page.waitForURL('**/person?name=Ben');
		await page.getByText('30 lifelogs').waitFor();
		const listed = page.locator('.rows li');
		await listed.first().waitFor();
		expect(await listed.count()).toBe(25);
		await page.keyboard.press('m');
		await page.waitForFunction(() => document.querySelectorAll('.rows li').length === 30);
		await looksRight(page);
		await listed.first().getByRole('link').click();
		await page.waitForURL('**/lifelogs/talk29');
		await page.goBack();
		await listed.first().waitFor();
		expect(await listed.count()).toBe(30);
	});

	test('somebody unknown is not found', async () => {
		const { page, wrong } = await open(await serveTalks([['Anna']]));
		for (const path of ['/person', '/person?name=', '/person?name=Nobody']) {
			await page.goto(path);
			await page.getByText("This person doesn't exist.").waitFor();
		}
		await page.click('main a');
		await page.waitForURL('**/people');
		// The browser logs each 404 itself.
		expect(wrong.splice(0).filter((each) => !each.includes('404'))).toEqual([]);
	});

	test('are renamed in every lifelog; the address with the old name still leads there', async () => {
		const server = await serveTalks([['Anna', 'Ben'], ['Anna']]);
		const { page } = await open(server);
		await page.goto('/person?name=Anna');
		await page.getByRole('heading', { name: 'Anna' }).waitFor();
		await page.keyboard.press('e');
		const dialog = page.getByRole('dialog', { name: 'Rename' });
		await dialog.waitFor();
		expect(await findings(page)).toEqual([]);
		await page.fill('dialog input', 'speaker 3');
		await page.keyboard.press('Enter');
		await dialog.getByRole('alert').getByText("“speaker 3” isn't a name, but a label.").waitFor();
		await page.fill('dialog input', 'Anna Meier');
		await page.keyboard.press('Enter');
		await page.waitForURL('**/person?name=Anna+Meier');
		await page.getByRole('heading', { name: 'Anna Meier' }).waitFor();
		await page.getByText('Also called Anna', { exact: true }).waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna Meier', 'Ben']);
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meier']);
		await page.goto('/person?name=Anna');
		await page.getByRole('heading', { name: 'Anna Meier' }).waitFor();
		await page.getByRole('button', { name: 'Separate Anna from Anna Meier' }).click();
		await page.getByRole('heading', { name: 'Anna', exact: true }).waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'Ben']);
	});

	test('somebody who has left before a person was renamed stays where they are', async () => {
		const server = await serveTalks([['Anna']]);
		const { page } = await open(server);
		await page.goto('/people');
		await page.click('.people a');
		await page.getByRole('button', { name: 'Rename' }).click();
		await page.fill('dialog input', 'Anna Meier');
		let goOn!: () => void;
		const left = new Promise<void>((resolve) => (goOn = resolve));
		await page.route('**/v1/people', async (route) => {
			await left;
			await route.continue();
		});
		const isRename = (request: Request) => request.method() === 'PATCH';
		const asked = page.waitForRequest(isRename);
		const answered = page.waitForResponse((response) => isRename(response.request()));
		await page.keyboard.press('Enter');
		await asked;
		await page.goBack();
		await page.waitForSelector('.people li');
		goOn();
		await answered;
		await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
		expect(new URL(page.url()).pathname).toBe('/people');
	});

	test('a name that somebody else has asks whether both are one person', async () => {
		const server = await serveTalks([['Anna'], ['Anna M.'], ['Anna M.']]);
		const { page, wrong } = await open(server);
		await page.goto('/person?name=Anna+M.');
		await page.getByRole('button', { name: 'Rename' }).click();
		await page.fill('dialog input', 'Anna');
		await page.keyboard.press('Enter');
		const question = page.getByRole('dialog', { name: 'Merge two people' });
		await question.getByText('Anna M. becomes Anna in every lifelog.').waitFor();
		expect(await findings(page)).toEqual([]);
		await page.keyboard.press('Escape');
		await question.waitFor({ state: 'detached' });
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna M.']);
		await page.getByRole('button', { name: 'Rename' }).click();
		await page.fill('dialog input', 'Anna');
		await page.keyboard.press('Enter');
		await question.getByRole('button', { name: 'Merge' }).click();
		await page.waitForURL('**/person?name=Anna');
		await page.getByText('3 lifelogs').waitFor();
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna']);
		// The browser logs each 409 itself.
		expect(wrong.splice(0).filter((each) => !each.includes('409'))).toEqual([]);
	});

	test('similar names are merged after a question, and separated again', async () => {
		const server = await serveTalks([['Anna Meier'], ['Anna Meyer'], ['Ben']]);
		const { page } = await open(server);
		await page.goto('/people');
		await page.getByRole('button', { name: 'Merge Anna Meyer with Anna Meier' }).click();
		const question = page.getByRole('dialog', { name: 'Merge two people' });
		await question.getByText('Anna Meyer becomes Anna Meier in every lifelog.').waitFor();
		await looksRight(page);
		await question.getByLabel('Anna Meyer').check();
		await question.getByText('Anna Meier becomes Anna Meyer in every lifelog.').waitFor();
		await question.getByRole('button', { name: 'Cancel' }).click();
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meyer']);
		await page.getByRole('button', { name: 'Merge Anna Meyer with Anna Meier' }).click();
		await question.getByRole('button', { name: 'Merge' }).click();
		const separate = page.getByRole('button', { name: 'Separate Anna Meyer from Anna Meier' });
		await separate.waitFor();
		expect((await namesIn(page)).sort()).toEqual(['Anna Meier', 'Ben']);
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meier']);
		await separate.click();
		await separate.waitFor({ state: 'detached' });
		expect((await namesIn(page)).sort()).toEqual(['Anna Meier', 'Anna Meyer', 'Ben']);
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meyer']);
	});

	test("more than a page of them appear on request, and the status says if people.json can't be read", async () => {
		const folder = temporaryFolder();
		const names = Array.from({ length: 60 }, (_, nth) => `Person ${String(nth).padStart(2, '0')}`);
		await writeArchive(folder, { lifelogs: [talk(0, names)] });
		writeFileSync(join(folder, 'people.json'), 'broken');
		const { page, wrong } = await open(await serve(folder, CHANGING));
		await page.goto('/people?sort=name');
		await page.getByText('More than 50 people').waitFor();
		await page.keyboard.press('m');
		await page.getByText('60 people', { exact: true }).waitFor();
		expect(await namesIn(page)).toEqual(names);
		await page.keyboard.press('s');
		await page.getByText("people can't be changed").waitFor();
		expect(await findings(page)).toEqual([]);
		await page.goto('/person?name=Person+07');
		await page.getByRole('button', { name: 'This is me' }).click();
		await page.getByRole('alert').getByText('people.json').waitFor();
		// The browser logs each 409 itself.
		expect(wrong.splice(0).filter((each) => !each.includes('409'))).toEqual([]);
	});

	test('one is me, until somebody else is, or nobody', async () => {
		const folder = temporaryFolder();
		// Her own lines say that they are the wearer's. It counts once she says so.
		const { contents, ...rest } = talk(0, ['Anna', 'Ben', 'You']);
		const mine = contents.map((line) => ({
			...line,
			...(line.speakerName !== 'Ben' && { speakerIdentifier: 'user' as const }),
		}));
		await writeArchive(folder, { lifelogs: [{ ...rest, contents: mine }] });
		const server = await serve(folder, CHANGING);
		const { page } = await open(server);
		const me = page.locator('h1 .me');
		const buttons = () => page.locator('.actions button').allTextContents();
		for (const name of ['Anna', 'Ben']) {
			await page.goto(`/person?name=${name}`);
			await page.getByRole('button', { name: 'This is me' }).waitFor();
			expect(await buttons()).toEqual(['Rename', 'This is me']);
			await page.keyboard.press('i');
			await me.waitFor();
			expect(await buttons()).toEqual(['Rename', "This isn't me"]);
			expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'Ben', name]);
		}
		await page.goto('/people');
		await rows(page).first().waitFor();
		expect(
			await rows(page)
				.filter({ has: page.locator('.me') })
				.locator('h2 a')
				.allTextContents(),
		).toEqual(['Ben']);
		await page.getByRole('link', { name: 'Ben' }).click();
		await page.getByRole('button', { name: "This isn't me" }).click();
		await me.waitFor({ state: 'detached' });
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'Ben', 'You']);
	});
});

describe('in a lifelog, a speaker', () => {
	test('is named here or everywhere, with known names to choose from', async () => {
		const server = await serveTalks([
			['SPEAKER_00', 'Anna', 'SPEAKER_01'],
			['Anna', 'SPEAKER_00'],
			['Ben', 'Carla'],
		]);
		const { page } = await open(server);
		await page.goto('/lifelogs/talk0');
		// Labels are shown as people write them.
		await speakerButton(page, 'Speaker 2').waitFor();
		const label = await nameSpeaker(page, 'Speaker 1');
		const known = () =>
			label.field
				.locator('datalist option')
				.evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
		await label.field.locator('datalist option').first().waitFor({ state: 'attached' });
		expect((await known()).sort()).toEqual(['Anna', 'Ben', 'Carla']);
		// A label is somebody else in each lifelog.
		expect(await label.field.getByRole('radio').count()).toBe(0);
		await label.type('Ben');
		await label.save();
		await speakerButton(page, 'Ben').waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual(['Ben', 'Anna', 'SPEAKER_01']);
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna', 'SPEAKER_00']);

		const person = await nameSpeaker(page, 'Anna');
		await person.field.getByLabel('Everywhere (2 lifelogs)').waitFor();
		await looksRight(page);
		await person.field.getByLabel('Everywhere (2 lifelogs)').check();
		await person.type('Anna Meier');
		await person.save();
		await speakerButton(page, 'Anna Meier').waitFor();
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meier', 'SPEAKER_00']);

		const here = await nameSpeaker(page, 'Anna Meier');
		await here.type('Dora');
		await here.save();
		await speakerButton(page, 'Dora').waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual(['Ben', 'Dora', 'SPEAKER_01']);
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna Meier', 'SPEAKER_00']);
	});

	test('is named in the whole recording', async () => {
		const endpoint = await startTranscription();
		closing.push(endpoint.close);
		const path = join(temporaryFolder(), 'pause.mp3');
		await makeTones(path, { seconds: 610, silent: [[2, 605]] });
		const server = await serve(temporaryFolder(), [
			...[...CHANGING, '--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
			...['--diarization-url', endpoint.url, '--diarization-model', 'pyannote'],
		]);
		const { recording } = await uploadTo(server, path);
		const { lifelogIds } = await whenRecording(
			server,
			recording.id,
			({ status }) => status === 'done',
		);
		const [first, second] = lifelogIds as [string, string];
		const [label] = (await speakersIn(server, second)).slice(-1);
		expect(await speakersIn(server, first)).toContain(label);
		const { page } = await open(server);
		await page.goto(`/lifelogs/${first}`);
		await page.waitForSelector('.speaker');
		const shown = await page.locator('.speaker').allTextContents();
		const { field, type, save } = await nameSpeaker(
			page,
			shown.find((each) => each.endsWith(label!))!,
		);
		expect(await field.getByLabel('The whole recording (2 lifelogs)').isChecked()).toBe(true);
		await type('Anna');
		await save();
		await speakerButton(page, 'Anna').waitFor();
		for (const id of [first, second]) {
			expect(await speakersIn(server, id)).toContain('Anna');
			expect(await speakersIn(server, id)).not.toContain(label);
		}
	});

	test('without a name is named in all lines, and the names can be taken back', async () => {
		const server = await serveTalks([[null, 'SPEAKER_00', null]]);
		const { page } = await open(server);
		await page.goto('/lifelogs/talk0');
		const nobody = await nameSpeaker(page, 'Unknown');
		expect(await nobody.field.getByRole('option').allTextContents()).toEqual([
			'Unknown',
			'Speaker 1',
		]);
		await nobody.type('Anna');
		await nobody.save();
		await speakerButton(page, 'Anna').waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'SPEAKER_00', 'Anna']);
		const label = await nameSpeaker(page, 'Speaker 1');
		await label.type('Ben');
		await label.save();
		const back = await nameSpeaker(page, 'Ben');
		await back.field.getByRole('button', { name: 'Names as recorded' }).click();
		const question = page.getByRole('dialog', { name: 'Names as recorded' });
		await question.waitFor();
		expect(await findings(page)).toEqual([]);
		await question.getByRole('button', { name: 'Take back' }).click();
		await speakerButton(page, 'Unknown').waitFor();
		expect(await speakersIn(server, 'talk0')).toEqual([null, 'SPEAKER_00', null]);
	});

	test("gets another speaker's name only after a question", async () => {
		const server = await serveTalks([['Anna', 'SPEAKER_00'], ['Anna']]);
		const { page } = await open(server);
		await page.goto('/lifelogs/talk0');
		const { field, type, save } = await nameSpeaker(page, 'Speaker 1');
		await type('Anna');
		await save();
		const question = page.getByRole('dialog', { name: 'The same name twice' });
		await question.waitFor();
		expect(await findings(page)).toEqual([]);
		await page.keyboard.press('Escape');
		await question.waitFor({ state: 'detached' });
		// What was typed is still there.
		expect(await field.getByLabel('Name', { exact: true }).inputValue()).toBe('Anna');
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'SPEAKER_00']);
		await save();
		await question.getByRole('button', { name: 'Save' }).click();
		await speakerButton(page, 'Speaker 1').waitFor({ state: 'detached' });
		expect(await speakersIn(server, 'talk0')).toEqual(['Anna', 'Anna']);
	});

	test('who gets the name of somebody else everywhere is merged after a question', async () => {
		const server = await serveTalks([['Anna M.'], ['Anna M.'], ['Anna']]);
		const { page, wrong } = await open(server);
		await page.goto('/lifelogs/talk0');
		const { field, type, save } = await nameSpeaker(page, 'Anna M.');
		await field.getByLabel('Everywhere (2 lifelogs)').check();
		await type('Anna');
		await save();
		const question = page.getByRole('dialog', { name: 'Merge two people' });
		await question.getByRole('button', { name: 'Merge' }).click();
		await speakerButton(page, 'Anna').waitFor();
		expect(await speakersIn(server, 'talk1')).toEqual(['Anna']);
		// The browser logs each 409 itself.
		expect(wrong.splice(0).filter((each) => !each.includes('409'))).toEqual([]);
	});

	test('can be heard: one line, and no further', async () => {
		const server = await serveTalks([['SPEAKER_00', 'SPEAKER_01', 'SPEAKER_00'], ['SPEAKER_00']]);
		const { page } = await open(server);
		await page.goto('/lifelogs/talk0');
		await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) > 0);
		const { field } = await nameSpeaker(page, 'Speaker 2');
		await field.getByRole('button', { name: 'Play a line' }).click();
		await page.waitForSelector('.said[aria-current] >> text="Line 1"');
		await page.waitForFunction(() => document.querySelector('audio')?.paused);
		const playedS = await page.evaluate(() => document.querySelector('audio')!.currentTime);
		expect(playedS).toBeGreaterThanOrEqual(1 + LINE_MS / 1000);
		// Long before the end, but a busy browser may tell late where it is.
		expect(playedS).toBeLessThan(AUDIO_MS / 1000 - 5);
		// In the lifelog of the next hour there is no audio.
		await page.goto('/lifelogs/talk1');
		const silent = await nameSpeaker(page, 'Speaker 1');
		expect(await silent.field.getByRole('button', { name: 'Play a line' }).count()).toBe(0);
	});

	test('is reached by keys, and the transcript stays usable', async () => {
		const server = await serveTalks([['SPEAKER_00', 'Anna', 'Ben']]);
		const { page } = await open(server);
		await page.goto('/lifelogs/talk0');
		await speakerButton(page, 'Anna').waitFor();
		// ↓ moves to the time of a line, once it is a button.
		await page.locator('button.time').nth(2).waitFor();
		const focused = () =>
			page.evaluate(() => [document.activeElement!.tagName, document.activeElement!.textContent]);
		await speakerButton(page, 'Speaker 1').focus();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Shift+Tab');
		expect(await focused()).toEqual(['BUTTON', 'Anna']);
		await page.keyboard.press('Enter');
		const field = panel(page);
		await field.waitFor();
		expect(await field.getByLabel('Name', { exact: true }).inputValue()).toBe('Anna');
		await page.keyboard.press('Escape');
		await field.waitFor({ state: 'detached' });
		expect(await focused()).toEqual(['BUTTON', 'Anna']);
		// Without a speaker in sight.
		await page.keyboard.press('n');
		await field.waitFor();
		await field.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
		// Arrow keys reach everybody in the list, not only the next one.
		await page.keyboard.press('Shift+Tab');
		await page.keyboard.press('Shift+Tab');
		for (const name of ['Anna', 'Ben']) {
			await page.keyboard.press('ArrowDown');
			await until(async () => {
				return (await field.getByLabel('Name', { exact: true }).inputValue()) === name;
			});
		}
		// Somebody in the transcript can be chosen, too.
		await speakerButton(page, 'Anna').click();
		await field.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
		expect(await field.getByLabel('Name', { exact: true }).inputValue()).toBe('Anna');
		// The transcript isn't behind it.
		const playedFrom = page.evaluate(() => {
			const audio = document.querySelector('audio')!;
			return new Promise<number>((resolve) => {
				audio.addEventListener('play', () => resolve(audio.currentTime), { once: true });
			});
		});
		await page.locator('.said').first().click();
		// A busy browser tells a moment later where it began. The next line is a second later.
		expect(await playedFrom).toBeLessThan(1);
		await page.keyboard.press('Space');
		await page.waitForFunction(() => document.querySelector('audio')?.paused);
		expect(await page.evaluate(() => document.querySelector('audio')!.ended)).toBe(false);
		await page.keyboard.press('Escape');
		await field.waitFor({ state: 'detached' });
	});
});

describe('who may only read', () => {
	const TALKS = [['Anna Meier', 'SPEAKER_00'], ['Anna Meyer']];
	const seesButtons = async (page: Page) => {
		await page.goto('/people');
		await rows(page).first().waitFor();
		expect((await namesIn(page)).sort()).toEqual(['Anna Meier', 'Anna Meyer']);
		await page.getByText('Similar name: Anna Meyer').waitFor();
		const ofPeople = await page.locator('main button').allTextContents();
		await page.getByRole('link', { name: 'Anna Meier' }).click();
		await page.locator('.rows li').first().waitFor();
		const ofPerson = await page.locator('main button').allTextContents();
		await page.goto('/lifelogs/talk0');
		await page.getByText('Speaker 1').waitFor();
		return [...ofPeople, ...ofPerson, ...(await page.locator('.speaker button').allTextContents())];
	};

	test('sees everything and no button that would fail, without --allow-changes', async () => {
		const { page } = await open(await serveTalks(TALKS, ['--timezone', ZONE]));
		expect(await seesButtons(page)).toEqual([]);
	});

	test('sees everything and no button that would fail, with a read-only key', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: TALKS.map((speakers, hour) => talk(hour, speakers)) });
		const server = await serve(folder, CHANGING);
		const page = await openReadOnly(server, folder);
		expect(await seesButtons(page)).toEqual([]);
	});
});
