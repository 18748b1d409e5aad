// Recordings that are transcribed again, and what becomes of their lifelogs.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentsOf } from '../../support/archiveCommand.mts';
import { findingsIn } from '../../support/findings.mts';
import { newestManifests } from '../../support/manifests.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
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

const ANNA = 'SPEAKER_00';

test('corrected lines stay where the same words are at the same time', async () => {
	const { id, lifelogIds } = await lab.recorded(
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
	lab.hears(
		['We met Ana.', ANNA, 0.1, 1.3],
		['She likes quick carbon.', ANNA, 2.1, 2.9],
		['Quick carbon?', ANNA, 3, 4],
		['Yes.', ANNA, 4.1, 5],
		['Yes.', ANNA, 6.2, 7.2],
		['Good buy.', ANNA, 8, 9],
	);
	expect(await lab.again(id)).toMatchObject({ lifelogIds, error: null });
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
	expect((await lab.textsOf(lifelogId)).slice(1, 3)).toEqual([
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
	const done = await lab.again(recording.id);
	const [{ fields, heard }] = lab.endpoint.asked.slice(asked);
	expect(fields.prompt).toBe('Anna Meier, Quickcarbon');
	expect(heard.map(({ second }) => second)).toEqual([...Array(10).keys()]);
	for (const { second, startMs } of heard) {
		expect(Math.abs(startMs - (second * 1000 + 100))).toBeLessThanOrEqual(20);
	}
	expect(await lab.textsOf(done.lifelogIds[0])).toHaveLength(10);
	expect(lab.waiting()).toEqual([]);
});

/** All of an archive but its audio and what the server keeps for itself, and the recordings. */
const everything = async () => [
	Object.entries(contentsOf(lab.archive)).filter(([path]) => !path.startsWith('audio/')),
	(await lab.listed('limit=100')).map((recording) => ({ ...recording, error: '' })),
];

test('a recording that cannot be transcribed again stays as it was, and says why', async () => {
	const { id, lifelogIds } = await lab.recorded('2026-03-09T12:00:00Z', ['Old.', undefined, 0, 2]);
	const before = await everything();
	const [{ path }] = newestManifests(lab.archive).get('2026-03-09')!.audio;
	const audio = join(lab.archive, path);
	const sound = readFileSync(audio);
	const unchanged = async (error: RegExp) => {
		expect((await lab.ended(id)).error).toMatch(error);
		expect(await everything()).toEqual(before);
		expect(await lab.textsOf(lifelogIds[0])).toEqual(['Old.']);
		expect(lab.waiting()).toEqual([]);
	};
	lab.endpoint.refuses = ['verbose_json', 'json'];
	await lab.askAgain(id);
	await unchanged(/^It wasn't transcribed again: The transcription endpoint returned 400/);
	lab.endpoint.refuses = [];
	lab.hears(['New.', undefined, 0, 2]);
	writeFileSync(audio, Buffer.from(sound).fill(1, 1000, 1001));
	await lab.askAgain(id);
	await unchanged(/^It wasn't transcribed again: audio\/recordings\/.* day manifest/);
	rmSync(audio);
	expect(await lab.askAgain(id)).toMatchObject({
		...{ status: 409, error: expect.stringMatching(/audio is no longer in the archive/) },
	});
	expect((await lab.recordingOf(lifelogIds[0])).isAudioKept).toBe(false);
	writeFileSync(audio, sound);
	expect(await lab.again(id)).toMatchObject({ lifelogIds, error: null });
	expect(await lab.textsOf(lifelogIds[0])).toEqual(['New.']);
	expect(await lab.askAgain('unknown')).toMatchObject({ status: 404 });
});

test('while the endpoint is down, the lifelogs stay, and the recording can be left as it was', async () => {
	const { id, lifelogIds, path } = await lab.recorded('2026-03-11T12:00:00Z', [
		'Old.',
		undefined,
		0,
		2,
	]);
	const before = await everything();
	lab.endpoint.fault = faults.error;
	await lab.askAgain(id);
	const waiting = await lab.when(id, ({ status, error }) => status === 'queued' && error !== null);
	expect(waiting).toMatchObject({ lifelogIds });
	expect(await lab.textsOf(lifelogIds[0])).toEqual(['Old.']);
	// A second request, the same bytes and a retry begin nothing else.
	expect((await lab.askAgain(id)).status).toBe(202);
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

test('a day that cannot be read leaves the old transcript until it can', async () => {
	const { id, lifelogIds } = await lab.recorded('2026-03-13T12:00:00Z', ['Old.', undefined, 0, 2]);
	const days = join(lab.archive, 'days');
	const [name] = readdirSync(days).filter((each) => each.startsWith('2026-03-13'));
	const good = readFileSync(join(days, name));
	lab.hears(['New.', undefined, 0, 2]);
	renameSync(join(days, name), join(lab.files, name));
	mkdirSync(join(days, name));
	await lab.askAgain(id);
	await lab.when(id, ({ status, error }) => status === 'queued' && error !== null);
	rmSync(join(days, name), { recursive: true });
	writeFileSync(join(days, name), good);
	await lab.retry(id);
	await lab.ended(id);
	expect(await lab.textsOf(lifelogIds[0])).toEqual(['New.']);
});

test('without --allow-changes and without an endpoint, nothing is transcribed again', async () => {
	const { id } = await lab.recorded('2026-03-15T12:00:00Z', ['Old.', undefined, 0, 2]);
	await lab.restart(['--allow-changes']);
	expect(await lab.askAgain(id)).toMatchObject({ status: 409 });
	await lab.restart([]);
	expect(await lab.askAgain(id)).toMatchObject({ status: 403 });
	await lab.restart();
});
