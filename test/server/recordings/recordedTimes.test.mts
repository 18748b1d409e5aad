// What is known of a recording's times, through the ways that recordings come in.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { until } from '../../support/soon.mts';
import { makeTones } from '../../support/tones.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

/** When the inbox is looked at, and how long a file must not have changed. */
const TIMES = { everyMs: 50, unchangedMs: 150 };

let lab: RecordingLab;
let inbox: string;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	inbox = temporaryFolder();
});
beforeEach(() => lab.mend());
afterAll(() => lab.close());

test('an upload begins at the time in its name', async () => {
	const path = join(lab.files, 'GMT20260301-080412_Recording.m4a');
	copyFileSync(lab.ten(), path);
	const { recording } = await lab.upload(path);
	expect(await lab.ended(recording.id)).toMatchObject({
		...{ status: 'done', startTime: '2026-03-01T08:04:12.000Z', startTimeFrom: 'fileName' },
	});
});

test("a container's time in the future is ignored", async () => {
	const path = join(lab.files, 'memo.m4a');
	const args = ['-metadata', 'creation_time=2099-01-01T00:00:00Z'];
	await makeTones(path, { seconds: 3, args });
	const before = Date.now();
	const { recording } = await lab.upload(path);
	const { startTime, startTimeFrom } = await lab.ended(recording.id);
	expect(startTimeFrom).toBe('modified');
	expect(Math.abs(Date.parse(startTime!) - (before - 3000))).toBeLessThan(60_000);
});

test('words are kept if the endpoint knows not all times', async () => {
	lab.endpoint.instead = () => ({
		text: 'One. Two. Three.',
		segments: [
			{ text: 'One.', start: 0.5, end: null },
			{ text: 'Two.', start: null, end: 4 },
			{ text: 'Three.', start: 6, end: null },
		],
	});
	const [lifelog] = await lab.made(lab.ten(), { startTime: '2026-03-02T08:00:00Z' });
	expect(said(lifelog).map(({ content }) => content)).toEqual(['One.', 'Two.', 'Three.']);
	const [{ startTime, endTime }] = said(lifelog).slice(-1);
	expect(startTime).toBe('2026-03-02T08:00:06.000Z');
	expect(Math.abs(Date.parse(endTime!) - Date.parse('2026-03-02T08:00:10Z'))).toBeLessThan(200);
});

test('a file in the inbox begins at the time in its name', async () => {
	await lab.server.close();
	const args = lab.argsOf('--inbox', inbox);
	lab.server = await startLifelogServer(lab.archive, args, undefined, TIMES);
	copyFileSync(lab.ten(), join(inbox, 'WhatsApp Audio 2026-02-03 at 9.04.12 PM.m4a'));
	await until(() => readdirSync(inbox).includes('done'));
	await until(async () => (await lab.listed())[0].status === 'done');
	expect((await lab.listed())[0]).toMatchObject({
		...{ startTime: '2026-02-03T20:04:12.000Z', startTimeFrom: 'fileName' },
	});
});
