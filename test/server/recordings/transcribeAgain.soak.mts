// Recordings of more than ten minutes that are transcribed again, and lifelogs that are deleted
// meanwhile.
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findingsIn } from '../../support/findings.mts';
import { newestManifests, type DayManifest } from '../../support/manifests.mts';
import type { Recording } from '../../support/recordings.mts';
import { RecordingLab, said, type Said } from '../../support/recordingLab.mts';
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

test('a recording with a pause of ten minutes becomes two lifelogs', async () => {
	const path = join(lab.files, 'pause.mp3');
	await makeTones(path, { seconds: 610, quiet: [[2, 605]] });
	const lifelogs = await lab.made(path, { startTime: '2026-02-01T23:55:00Z', title: 'Walk' });
	expect(lifelogs.map(({ title, startTime }) => [title, startTime])).toEqual([
		['Walk', '2026-02-01T23:55:00.000Z'],
		['Walk', '2026-02-02T00:05:05.000Z'],
	]);
	expect(lifelogs.map((each) => said(each).length)).toEqual([2, 5]);
	expect(await findingsIn(lab.archive)).toEqual([]);
});

describe('a recording with a pause of ten minutes, transcribed again', () => {
	let id: string;
	beforeAll(async () => {
		const path = join(lab.files, 'pause.wav');
		await makeTones(path, { seconds: 615, quiet: [[2, 605]] });
		lab.hears();
		({ id } = (await lab.upload(path, { startTime: '2026-03-01T23:55:00Z' })).recording);
		await lab.ended(id);
	});

	/** Has this heard in the recording, and returns its lifelogs then. */
	async function heard(...segments: Said[]): Promise<string[]> {
		lab.hears(...segments);
		return (await lab.again(id)).lifelogIds;
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
		lab.hears(['One!', ANNA, 1.5, 2], ['Two.', 'Ben', 2, 3], ['Three!', 'SPEAKER_01', 606, 608]);
		expect(await lab.again(id)).toMatchObject({ lifelogIds, error: null, attempts: 3 });
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
			expect(await lab.recordingOf(each)).toEqual({
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
		expect(await lab.again(id)).toMatchObject({ lifelogIds, error: null });
		expect((await lab.recordingOf(first)).namesBefore).toEqual(namesBefore);
	});

	test('a lifelog without a part in the new transcript is deleted, and a new one has an ID of its own', async () => {
		const lifelogIds = await heard(['One.', undefined, 0, 2], ['Two.', undefined, 606, 607]);
		const [first, second] = lifelogIds;
		lab.hears(['Once.', undefined, 605, 612]);
		expect((await lab.again(id)).lifelogIds).toEqual([second]);
		expect((await lab.fetch(`/v1/lifelogs/${first}`)).status).toBe(404);
		expect(await lab.textsOf(second)).toEqual(['Once.']);
		const { deletedAt, files, spans } = entriesOf()[first];
		expect([typeof deletedAt, files, spans]).toEqual(['string', [], undefined]);
		// What nobody deleted comes back.
		lab.hears(['One.', undefined, 0, 2], ['Two.', undefined, 606, 607]);
		const { lifelogIds: later, deletedLifelogIds } = await lab.again(id);
		expect([later.length, later[1], deletedLifelogIds]).toEqual([2, second, []]);
		expect(lifelogIds).not.toContain(later[0]);
		expect(await lab.textsOf(later[0])).toEqual(['One.']);
		// All of it is one conversation: the greater overlap wins.
		lab.hears(['All.', undefined, 0, 300], ['Of it.', undefined, 500, 615]);
		expect((await lab.again(id)).lifelogIds).toEqual([later[0]]);
		lab.hears();
		expect((await lab.again(id)).lifelogIds).toEqual([]);
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('what its owner deleted stays deleted', async () => {
		const lifelogIds = await heard(['Public.', undefined, 0, 2], ['Secret.', undefined, 606, 607]);
		const [first, second] = lifelogIds;
		await lab.fetch(`/v1/lifelogs/${second}`, { method: 'DELETE' });
		lab.hears(
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
		expect(await lab.again(id)).toMatchObject({ lifelogIds: [first], deletedLifelogIds: [second] });
		expect(await lab.textsOf(first)).toEqual(['Public!']);
		// As they are replaced, so that a poll that looked meanwhile finds them.
		expect(Date.parse((await lab.lifelog(first)).updatedAt)).toBeGreaterThanOrEqual(heardMs);
		expect(bytesOf(lab.archive).includes('Zanzibar')).toBe(false);
		// A lifelog that is deleted while the recording is transcribed doesn't come back, either.
		let isAsked = false;
		lab.endpoint.instead = (asked) => {
			isAsked = true;
			return answers(asked);
		};
		await lab.askAgain(id);
		while (!isAsked) await sleep(2);
		await lab.fetch(`/v1/lifelogs/${first}`, { method: 'DELETE' });
		const { status, lifelogIds: left } = await lab.when(id, (each) => each.status === 'done');
		expect([status, left]).toEqual(['done', []]);
		expect(await lab.askAgain(id)).toMatchObject({
			status: 409,
			error: expect.stringMatching(/again=true/),
		});
		expect(await findingsIn(lab.archive)).toEqual([]);
	});
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
		await lab.askAgain(id);
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
		expect(await lab.askAgain(id)).toMatchObject({ status: 409 });
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
		const { id, lifelogIds } = await lab.recorded(startTime, ['Old.', undefined, 0, 2]);
		const from = performance.now();
		await lab.askAgain(id);
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
