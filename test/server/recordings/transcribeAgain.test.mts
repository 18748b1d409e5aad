// Recordings that are transcribed again, and what becomes of their lifelogs.
import {
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentsOf } from '../../support/archiveCommand.mts';
import { findingsIn } from '../../support/findings.mts';
import { newestManifests, type DayManifest } from '../../support/manifests.mts';
import type { Recording } from '../../support/recordings.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { makeTones } from '../../support/tones.mts';
import { faults } from '../../support/transcription.mts';
import { temporaryFolder } from '../sources.mts';
import { PeopleClient } from '../people/client.mts';

let lab: RecordingLab;
let client: PeopleClient;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	client = new PeopleClient(lab.server);
});
beforeEach(() => lab.mend());
afterAll(() => lab.close());

/** The text of a segment, its speaker, and when it begins and ends in seconds. */
type Said = [text: string, speaker: string | undefined, start: number, end: number];

/** Has the endpoint hear this. */
function hears(...segments: Said[]): void {
	lab.endpoint.instead = () => ({
		segments: segments.map(([text, speaker, start, end]) => ({ text, speaker, start, end })),
	});
}

/** A recording of 10 seconds that is done, and its lifelogs. */
async function recorded(startTime: string, ...segments: Said[]) {
	const path = lab.ten();
	hears(...segments);
	const { recording } = await lab.upload(path, { startTime });
	const { lifelogIds } = await lab.ended(recording.id);
	return { id: recording.id, lifelogIds, path };
}

const ask = (id: string) => lab.ask(`/${id}/transcribe-again`, { method: 'POST' });

/** Transcribes a recording again, and returns it then. */
async function again(id: string) {
	const { status, recording } = await ask(id);
	expect([status, recording.status]).toEqual([202, 'queued']);
	return await lab.ended(id);
}

const textsOf = async (lifelogId: string) =>
	said(await lab.lifelog(lifelogId)).map(({ content }) => content);
const recordingOf = async (lifelogId: string) =>
	(await client.send(`/web/lifelogs/${lifelogId}/recording`)).body;
const entriesOf = (folder = lab.archive): Record<string, DayManifest['lifelogs'][string]> =>
	Object.assign({}, ...[...newestManifests(folder).values()].map(({ lifelogs }) => lifelogs));

/** All that is in the files of the archive, as it is on the disk. */
function bytesOf(folder: string): string {
	const found = readdirSync(folder, { recursive: true, withFileTypes: true });
	const files = found.filter((entry) => entry.isFile());
	return files
		.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
		.join('\n');
}

const ANNA = 'SPEAKER_00';

describe('a recording with a pause of ten minutes', () => {
	let id: string;
	beforeAll(async () => {
		const path = join(lab.files, 'pause.wav');
		await makeTones(path, { seconds: 615, quiet: [[2, 605]] });
		hears();
		({ id } = (await lab.upload(path, { startTime: '2026-03-01T23:55:00Z' })).recording);
		await lab.ended(id);
	});

	/** Has this heard in the recording, and returns its lifelogs then. */
	async function heard(...segments: Said[]): Promise<string[]> {
		hears(...segments);
		return (await again(id)).lifelogIds;
	}

	test('lifelogs keep their IDs, stars, titles and names; labels and former words do not stay', async () => {
		const lifelogIds = await heard(
			['Periwinkle one.', ANNA, 0.2, 1],
			['Two.', 'Ben', 1, 2],
			['Periwinkle three.', ANNA, 606, 607],
		);
		expect(lifelogIds).toHaveLength(2);
		const [first, second] = lifelogIds;
		await client.edit(first, { title: 'My title', isStarred: true });
		await client.edit(first, { speakers: { [ANNA]: 'Anna', Ben: 'Benjamin' } });
		await client.edit(second, { speakers: { [ANNA]: 'Clara' } });
		const before = await Promise.all(lifelogIds.map((each) => lab.lifelog(each)));
		expect(bytesOf(lab.archive).includes('Periwinkle')).toBe(true);
		hears(['One!', ANNA, 1.5, 2], ['Two.', 'Ben', 2, 3], ['Three!', 'SPEAKER_01', 606, 608]);
		expect(await again(id)).toMatchObject({ lifelogIds, error: null, attempts: 3 });
		const [one, two] = await Promise.all(lifelogIds.map((each) => lab.lifelog(each)));
		expect(one).toMatchObject({ title: 'My title', isStarred: true });
		expect(one.startTime).toBe('2026-03-01T23:55:01.000Z');
		expect(two).toMatchObject({ title: 'Three!', isStarred: false });
		expect(said(one).map(({ content, speakerName }) => [content, speakerName])).toEqual([
			['One!', ANNA],
			['Two.', 'Benjamin'],
		]);
		expect(said(two).map(({ speakerName }) => speakerName)).toEqual(['SPEAKER_01']);
		for (const [nth, { updatedAt }] of [one, two].entries()) {
			expect(updatedAt > before[nth].updatedAt).toBe(true);
		}
		const namesBefore = expect.arrayContaining([
			{ name: 'Anna', label: ANNA },
			{ name: 'Clara', label: ANNA },
		]);
		for (const each of lifelogIds) {
			expect(await recordingOf(each)).toEqual({
				...{ lifelogIds, namesBefore, isAudioKept: true },
				recording: { id, status: 'done', error: null },
			});
		}
		expect(bytesOf(lab.archive).includes('Periwinkle')).toBe(false);
		expect(await findingsIn(lab.archive)).toEqual([]);
		// What was on the disk before is nowhere in the index, either.
		const found = await lab.fetch('/v1/lifelogs?search=periwinkle');
		expect((await found.json()).data.lifelogs).toEqual([]);
		// Once more: nothing of it has to be edited again.
		expect(await again(id)).toMatchObject({ lifelogIds, error: null });
		expect((await recordingOf(first)).namesBefore).toEqual(namesBefore);
	});

	test('a lifelog without a part in the new transcript is deleted, and a new one has an ID of its own', async () => {
		const lifelogIds = await heard(['One.', undefined, 0, 2], ['Two.', undefined, 606, 607]);
		const [first, second] = lifelogIds;
		hears(['Once.', undefined, 605, 612]);
		expect((await again(id)).lifelogIds).toEqual([second]);
		expect((await lab.fetch(`/v1/lifelogs/${first}`)).status).toBe(404);
		expect(await textsOf(second)).toEqual(['Once.']);
		const { deletedAt, files, spans } = entriesOf()[first];
		expect([typeof deletedAt, files, spans]).toEqual(['string', [], undefined]);
		// What nobody deleted comes back.
		hears(['One.', undefined, 0, 2], ['Two.', undefined, 606, 607]);
		const { lifelogIds: later, deletedLifelogIds } = await again(id);
		expect([later.length, later[1], deletedLifelogIds]).toEqual([2, second, []]);
		expect(lifelogIds).not.toContain(later[0]);
		expect(await textsOf(later[0])).toEqual(['One.']);
		// All of it is one conversation: the greater overlap wins.
		hears(['All.', undefined, 0, 300], ['Of it.', undefined, 500, 615]);
		expect((await again(id)).lifelogIds).toEqual([later[0]]);
		hears();
		expect((await again(id)).lifelogIds).toEqual([]);
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('what its owner deleted stays deleted', async () => {
		const lifelogIds = await heard(['Public.', undefined, 0, 2], ['Secret.', undefined, 606, 607]);
		const [first, second] = lifelogIds;
		await lab.fetch(`/v1/lifelogs/${second}`, { method: 'DELETE' });
		hears(
			['Public!', undefined, 0, 2],
			// Neither its words nor others of the same conversation.
			['Zanzibar!', undefined, 605, 606.5],
			['Zanzibar, too!', undefined, 609, 610],
		);
		let heardMs = Infinity;
		const answers = lab.endpoint.instead!;
		lab.endpoint.instead = (asked) => {
			heardMs = Date.now();
			return answers(asked);
		};
		expect(await again(id)).toMatchObject({ lifelogIds: [first], deletedLifelogIds: [second] });
		expect(await textsOf(first)).toEqual(['Public!']);
		// As they are replaced, so that a poll that looked meanwhile finds them.
		expect(Date.parse((await lab.lifelog(first)).updatedAt)).toBeGreaterThanOrEqual(heardMs);
		expect(bytesOf(lab.archive).includes('Zanzibar')).toBe(false);
		// A lifelog that is deleted while the recording is transcribed doesn't come back, either.
		let isAsked = false;
		lab.endpoint.instead = (asked) => {
			isAsked = true;
			return answers(asked);
		};
		await ask(id);
		while (!isAsked) await sleep(2);
		await lab.fetch(`/v1/lifelogs/${first}`, { method: 'DELETE' });
		const { status, lifelogIds: left } = await lab.when(id, (each) => each.status === 'done');
		expect([status, left]).toEqual(['done', []]);
		expect(await ask(id)).toMatchObject({
			status: 409,
			error: expect.stringMatching(/again=true/),
		});
		expect(await findingsIn(lab.archive)).toEqual([]);
	});
});

test('corrected lines stay where the same words are at the same time', async () => {
	const { id, lifelogIds } = await recorded(
		'2026-03-02T12:00:00Z',
		['We met Ana.', ANNA, 1.2, 2],
		['She likes quick carbon.', ANNA, 2, 3],
		['Yes.', ANNA, 4, 5],
		['Yes.', ANNA, 6, 7],
		['Good by.', ANNA, 8, 9],
	);
	const [lifelogId] = lifelogIds;
	const lines = [
		{ startOffsetMs: 200, was: 'We met Ana.', text: 'We met Anna.' },
		{ startOffsetMs: 1000, was: 'She likes quick carbon.', text: 'He likes quick carbon.' },
		{ startOffsetMs: 5000, was: 'Yes.', text: 'Yes!', speaker: 'Bert' },
		{ startOffsetMs: 7000, was: 'Good by.', text: 'Goodbye.', speaker: 'SPEAKER_01' },
	];
	expect((await client.edit(lifelogId, { lines })).status).toBe(200);
	const replacement = { heard: 'quick carbon', right: 'Quickcarbon' };
	const made = await client.send('/v1/replacements', 'POST', replacement);
	expect(made.status).toBe(201);
	hears(
		['We met Ana.', ANNA, 0.1, 1.3],
		['She likes quick carbon.', ANNA, 2.1, 2.9],
		['Quick carbon?', ANNA, 3, 4],
		['Yes.', ANNA, 4.1, 5],
		['Yes.', ANNA, 6.2, 7.2],
		['Good buy.', ANNA, 8, 9],
	);
	expect(await again(id)).toMatchObject({ lifelogIds, error: null });
	const spoken = said(await lab.lifelog(lifelogId));
	expect(spoken.map(({ content, speakerName }) => [content, speakerName])).toEqual([
		['We met Anna.', ANNA],
		['He likes Quickcarbon.', ANNA],
		['Quickcarbon?', ANNA],
		['Yes.', ANNA],
		['Yes!', 'Bert'],
		['Good buy.', ANNA],
	]);
	// What was typed stays when the replacement is taken back, and what was heard is right.
	const { id: replacementId } = made.body.data.replacement;
	await client.send(`/v1/replacements/${replacementId}`, 'DELETE');
	expect((await textsOf(lifelogId)).slice(1, 3)).toEqual([
		'He likes quick carbon.',
		'Quickcarbon?',
	]);
	expect(await findingsIn(lab.archive)).toEqual([]);
});

test('the endpoint hears the audio of the archive, with its present words to expect', async () => {
	const path = lab.ten();
	const { recording } = await lab.upload(path, { startTime: '2026-03-07T12:00:00Z' });
	await lab.ended(recording.id);
	rmSync(path);
	await lab.restart(lab.argsOf('--transcription-prompt', 'Anna Meier, Quickcarbon'));
	client = new PeopleClient(lab.server);
	const asked = lab.endpoint.asked.length;
	const done = await again(recording.id);
	const [{ fields, heard }] = lab.endpoint.asked.slice(asked);
	expect(fields.prompt).toBe('Anna Meier, Quickcarbon');
	expect(heard.map(({ second }) => second)).toEqual([...Array(10).keys()]);
	for (const { second, startMs } of heard) {
		expect(Math.abs(startMs - (second * 1000 + 100))).toBeLessThanOrEqual(20);
	}
	expect(await textsOf(done.lifelogIds[0])).toHaveLength(10);
	expect(lab.waiting()).toEqual([]);
});

/** All of an archive but its audio and what the server keeps for itself, and the recordings. */
const everything = async () => [
	Object.entries(contentsOf(lab.archive)).filter(([path]) => !path.startsWith('audio/')),
	(await lab.listed('limit=100')).map((recording) => ({ ...recording, error: '' })),
];

test('a recording that cannot be transcribed again stays as it was, and says why', async () => {
	const { id, lifelogIds } = await recorded('2026-03-09T12:00:00Z', ['Old.', undefined, 0, 2]);
	const before = await everything();
	const [{ path }] = newestManifests(lab.archive).get('2026-03-09')!.audio;
	const audio = join(lab.archive, path);
	const sound = readFileSync(audio);
	const unchanged = async (error: RegExp) => {
		expect((await lab.ended(id)).error).toMatch(error);
		expect(await everything()).toEqual(before);
		expect(await textsOf(lifelogIds[0])).toEqual(['Old.']);
		expect(lab.waiting()).toEqual([]);
	};
	lab.endpoint.refuses = ['verbose_json', 'json'];
	await ask(id);
	await unchanged(/^It wasn't transcribed again: The transcription endpoint returned 400/);
	lab.endpoint.refuses = [];
	hears(['New.', undefined, 0, 2]);
	writeFileSync(audio, Buffer.from(sound).fill(1, 1000, 1001));
	await ask(id);
	await unchanged(/^It wasn't transcribed again: audio\/recordings\/.* day manifest/);
	rmSync(audio);
	expect(await ask(id)).toMatchObject({
		...{ status: 409, error: expect.stringMatching(/audio is no longer in the archive/) },
	});
	expect((await recordingOf(lifelogIds[0])).isAudioKept).toBe(false);
	writeFileSync(audio, sound);
	expect(await again(id)).toMatchObject({ lifelogIds, error: null });
	expect(await textsOf(lifelogIds[0])).toEqual(['New.']);
	expect(await ask('unknown')).toMatchObject({ status: 404 });
});

test('while the endpoint is down, the lifelogs stay, and the recording can be left as it was', async () => {
	const { id, lifelogIds, path } = await recorded('2026-03-11T12:00:00Z', [
		'Old.',
		undefined,
		0,
		2,
	]);
	const before = await everything();
	lab.endpoint.fault = faults.error;
	await ask(id);
	const waiting = await lab.when(id, ({ status, error }) => status === 'queued' && error !== null);
	expect(waiting).toMatchObject({ lifelogIds });
	expect(await textsOf(lifelogIds[0])).toEqual(['Old.']);
	// A second request, the same bytes and a retry begin nothing else.
	expect((await ask(id)).status).toBe(202);
	expect((await lab.upload(path)).recording.id).toBe(id);
	expect((await lab.retry(id)).recording).toMatchObject({ lifelogIds });
	await lab.restart();
	client = new PeopleClient(lab.server);
	await lab.when(id, ({ status, error }) => status === 'queued' && error !== null);
	expect((await lab.drop(id)).status).toBe(200);
	expect((await lab.get(id)).recording).toMatchObject({ status: 'done', error: null });
	expect(await everything()).toEqual(before);
	expect(lab.waiting()).toEqual([]);
	expect((await lab.drop(id)).status).toBe(409);
});

describe('a recording with two lifelogs that waits for the endpoint, which has heard its first part', () => {
	const WORD = 'Zeppelin';
	let id: string;
	let lifelogIds: string[];
	let attempts: number;
	let saved: string;
	beforeAll(async () => {
		lab.mend();
		const path = join(lab.files, 'parts.wav');
		await makeTones(path, { seconds: 720, quiet: [[2, 605]] });
		const starts = [0, 400];
		lab.endpoint.instead = () => {
			const start = starts.shift()!;
			return { segments: [{ text: 'Old.', start, end: start + 1 }] };
		};
		const { recording } = await lab.upload(path, { startTime: '2026-03-12T12:00:00Z' });
		({ id, lifelogIds } = await lab.ended(recording.id));
		expect(lifelogIds).toHaveLength(2);
		lab.endpoint.instead = () => {
			lab.endpoint.fault = faults.error;
			return { segments: [{ text: WORD, start: 0, end: 1 }] };
		};
		await ask(id);
		const isWaiting = ({ status, error }: Recording) => status === 'queued' && error !== null;
		({ attempts } = await lab.when(id, isWaiting));
		await lab.server.close();
		saved = join(lab.files, 'waiting');
		cpSync(lab.archive, saved, { recursive: true });
	});

	/** Starts a server over the archive as it was when the recording had begun to wait. */
	async function restartAsSaved(args?: string[]): Promise<void> {
		await lab.server.close();
		rmSync(lab.archive, { recursive: true });
		cpSync(saved, lab.archive, { recursive: true });
		lab.endpoint.fault = faults.error;
		await lab.start(args);
		client = new PeopleClient(lab.server);
		expect(bytesOf(lab.archive).includes(WORD)).toBe(true);
	}

	test('what is deleted while it waits is in no file', async () => {
		await restartAsSaved();
		await lab.when(id, (now) => now.status === 'queued' && now.attempts > attempts);
		await lab.fetch(`/v1/lifelogs/${lifelogIds[0]}`, { method: 'DELETE' });
		expect(bytesOf(lab.archive).includes(WORD)).toBe(false);
		await lab.fetch(`/v1/lifelogs/${lifelogIds[1]}`, { method: 'DELETE' });
		expect(await lab.ended(id)).toMatchObject({ lifelogIds: [], error: null });
		expect(await ask(id)).toMatchObject({ status: 409 });
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('what is deleted while the server has no endpoint is in no file, either', async () => {
		await restartAsSaved(['--allow-changes', '--allow-delete']);
		for (const each of lifelogIds) await lab.fetch(`/v1/lifelogs/${each}`, { method: 'DELETE' });
		expect(bytesOf(lab.archive).includes(WORD)).toBe(false);
		await lab.restart();
		client = new PeopleClient(lab.server);
		expect(await lab.ended(id)).toMatchObject({ lifelogIds: [], error: null });
	});
});

test('a recording is done, whenever its lifelog is deleted', async () => {
	let tookMs = 0;
	for (let nth = 0; nth < 10; nth += 1) {
		const startTime = `2026-04-${10 + nth}T12:00:00Z`;
		const { id, lifelogIds } = await recorded(startTime, ['Old.', undefined, 0, 2]);
		const from = performance.now();
		await ask(id);
		if (nth === 0) {
			await lab.when(id, ({ status }) => status === 'done');
			tookMs = performance.now() - from;
		}
		// Most of them as it ends.
		await sleep(tookMs * (0.5 + 0.06 * nth));
		await lab.fetch(`/v1/lifelogs/${lifelogIds[0]}`, { method: 'DELETE' });
		expect(await lab.ended(id)).toMatchObject({ status: 'done', lifelogIds: [], error: null });
	}
});

test('a day that cannot be read leaves the old transcript until it can', async () => {
	const { id, lifelogIds } = await recorded('2026-03-13T12:00:00Z', ['Old.', undefined, 0, 2]);
	const days = join(lab.archive, 'days');
	const [name] = readdirSync(days).filter((each) => each.startsWith('2026-03-13'));
	const good = readFileSync(join(days, name));
	hears(['New.', undefined, 0, 2]);
	renameSync(join(days, name), join(lab.files, name));
	mkdirSync(join(days, name));
	await ask(id);
	await lab.when(id, ({ status, error }) => status === 'queued' && error !== null);
	rmSync(join(days, name), { recursive: true });
	writeFileSync(join(days, name), good);
	await lab.retry(id);
	await lab.ended(id);
	expect(await textsOf(lifelogIds[0])).toEqual(['New.']);
});

test('without --allow-changes and without an endpoint, nothing is transcribed again', async () => {
	const { id } = await recorded('2026-03-15T12:00:00Z', ['Old.', undefined, 0, 2]);
	await lab.restart(['--allow-changes']);
	expect(await ask(id)).toMatchObject({ status: 409 });
	await lab.restart([]);
	expect(await ask(id)).toMatchObject({ status: 403 });
	await lab.restart();
});
