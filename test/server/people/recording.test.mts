// The speakers of a recording that became several lifelogs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findingsIn } from '../../support/findings.mts';
import { newestManifests } from '../../support/manifests.mts';
import { RecordingLab } from '../../support/recordingLab.mts';
import { makeTones } from '../../support/tones.mts';
import { buildPage } from '../../support/web.mts';
import { temporaryFolder } from '../sources.mts';
import { PeopleClient } from './client.mts';

let lab: RecordingLab;
let client: PeopleClient;
/** Two lifelogs on two days, of one recording, and one of another. */
let ids: string[];
let other: string;

beforeAll(async () => {
	buildPage();
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	const path = join(lab.files, 'pause.wav');
	await makeTones(path, { seconds: 610, silent: [[2, 605]] });
	const said = (text: string, speaker: string | undefined, start: number) => ({
		...{ text, speaker, start, end: start + 1 },
	});
	lab.endpoint.instead = () => ({
		segments: [
			said('One.', 'SPEAKER_00', 0),
			said('Two.', 'SPEAKER_01', 1),
			said('Three.', 'SPEAKER_00', 606),
		],
	});
	const made = await lab.made(path, { startTime: '2026-03-01T23:55:00Z' });
	ids = made.map(({ id }) => id);
	lab.endpoint.instead = () => ({
		segments: [said('Four.', 'SPEAKER_00', 0), said('Five.', undefined, 2)],
	});
	other = (await lab.made(lab.ten(), { startTime: '2026-03-01T23:56:00Z' }))[0].id;
	client = new PeopleClient(lab.server);
});
afterAll(() => lab.close());

const names = async () => await Promise.all([...ids, other].map((id) => client.names(id)));
const RECORDED = [['SPEAKER_00', 'SPEAKER_01'], ['SPEAKER_00'], ['SPEAKER_00', null]];

test('the page knows the lifelogs of a recording', async () => {
	expect(ids).toHaveLength(2);
	for (const id of ids) {
		const { body } = await client.send(`/web/lifelogs/${id}/recording`);
		expect(body).toEqual({ lifelogIds: ids });
	}
	expect((await client.send('/web/lifelogs/unknown/recording')).status).toBe(404);
});

test('a label is named in the whole recording, and nowhere else, and taken back', async () => {
	expect(await names()).toEqual(RECORDED);
	const speakers = { SPEAKER_00: 'Anna', SPEAKER_01: 'Bo' };
	expect((await client.edit(ids[0], { speakers, wholeRecording: true })).status).toBe(200);
	expect(await names()).toEqual([['Anna', 'Bo'], ['Anna'], ['SPEAKER_00', null]]);
	expect(await findingsIn(lab.archive)).toEqual([]);
	expect((await client.edit(ids[1], { speakers: null, wholeRecording: true })).status).toBe(200);
	expect(await names()).toEqual(RECORDED);
});

test('one lifelog alone keeps the others as they are', async () => {
	await client.edit(ids[1], { speakers: { SPEAKER_00: 'Eva' } });
	expect(await names()).toEqual([RECORDED[0], ['Eva'], RECORDED[2]]);
	// Eva isn't that label any more.
	await client.edit(ids[0], { speakers: { SPEAKER_00: 'Anna' }, wholeRecording: true });
	expect(await names()).toEqual([['Anna', 'SPEAKER_01'], ['Eva'], RECORDED[2]]);
	await client.edit(ids[0], { speakers: null, wholeRecording: true });
	expect(await names()).toEqual(RECORDED);
});

test('a line that was given to a label is named with it, also in another lifelog', async () => {
	const line = { startOffsetMs: 0, was: 'Three.', speaker: 'SPEAKER_01' };
	await client.edit(ids[1], { lines: [line] });
	const speakers = { SPEAKER_01: 'Bo' };
	expect((await client.edit(ids[0], { speakers, wholeRecording: true })).status).toBe(200);
	expect(await names()).toEqual([['SPEAKER_00', 'Bo'], ['Bo'], RECORDED[2]]);
	await client.edit(ids[0], { speakers: null, wholeRecording: true });
	expect(await names()).toEqual(RECORDED);
});

test('lines without a speaker are named', async () => {
	await client.edit(other, { speakers: { '': 'Eva' } });
	expect(await names()).toEqual([...RECORDED.slice(0, 2), ['SPEAKER_00', 'Eva']]);
	expect((await client.people()).map(({ name }) => name)).toEqual(['Eva']);
	const again = await client.edit(other, { speakers: { '': 'Bo' } });
	expect(again).toEqual({
		status: 400,
		error: 'speakers: every line of this lifelog has a speaker',
	});
	await client.edit(other, { speakers: null });
	expect(await names()).toEqual(RECORDED);
});

test('a name, no name and another lifelog are refused, and change nothing', async () => {
	await client.edit(ids[0], { speakers: { SPEAKER_00: 'Anna' } });
	const asked = { speakers: { Anna: 'Eva' }, wholeRecording: true };
	expect(await client.edit(ids[0], asked)).toEqual({
		status: 400,
		error: expect.stringContaining('PATCH /v1/people'),
	});
	expect((await client.edit(ids[0], { title: 'x', wholeRecording: true })).status).toBe(400);
	expect((await client.edit('unknown', asked)).status).toBe(404);
	const unknown = { speakers: { SPEAKER_09: 'Eva' }, wholeRecording: true };
	expect((await client.edit(ids[0], unknown)).status).toBe(400);
	expect(await names()).toEqual([['Anna', 'SPEAKER_01'], ...RECORDED.slice(1)]);
});

test('while a file of one day can not be read, none of the recording is named', async () => {
	const manifests = [...newestManifests(lab.archive).values()];
	const { files } = manifests.map(({ lifelogs }) => lifelogs[ids[1]]).find((entry) => entry)!;
	const path = join(lab.archive, files.find((file) => file.path.endsWith('.json'))!.path);
	const content = readFileSync(path);
	writeFileSync(path, '{');
	const asked = { speakers: { SPEAKER_01: 'Bo', SPEAKER_00: 'Anna' }, wholeRecording: true };
	await client.edit(ids[0], { speakers: null });
	expect((await client.edit(ids[0], asked)).status).toBe(409);
	expect(await client.names(ids[0])).toEqual(RECORDED[0]);
	writeFileSync(path, content);
	expect((await client.edit(ids[0], asked)).status).toBe(200);
	expect(await names()).toEqual([['Anna', 'Bo'], ['Anna'], RECORDED[2]]);
});

test('a recording is known without the endpoint that heard it', async () => {
	await lab.restart(['--allow-changes']);
	client = new PeopleClient(lab.server);
	const { body } = await client.send(`/web/lifelogs/${ids[1]}/recording`);
	expect(body).toEqual({ lifelogIds: ids });
});
