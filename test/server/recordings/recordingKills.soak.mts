import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { en, Faker } from '@faker-js/faker';
import type { Lifelog } from '../../../lifelog/api.ts';
import { clearDrafts } from '../../../server/archive/drafts.mts';
import { findingsIn } from '../../support/findings.mts';
import { spawnLifelogServer, startLifelogServer } from '../../support/lifelogServer.mts';
import { newestManifests } from '../../support/manifests.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import {
	archivedIn,
	askRecordings,
	killWhileRecording,
	uploadTo,
	whenRecording,
} from '../../support/recordings.mts';
import { makeTones } from '../../support/tones.mts';
import { KILLS, randomSeed } from '../../support/size.mts';
import { temporaryFolder } from '../sources.mts';

const seed = randomSeed();
/** In one folder. */
const KILLS_IN_A_ROUND = 5;
/** Rounds at the same time: a server waits for ffmpeg, and before it is killed. */
const AT_A_TIME = 3;

let lab: RecordingLab;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
});
afterAll(() => lab.close());

test(`${KILLS} kills at random moments lose no recording and make none twice (seed ${seed})`, async () => {
	const uploads = [10, 4, 20].map((seconds) => ({
		path: join(lab.files, `${seconds}.ogg`),
		fields: { startTime: '2026-03-01T23:59:50Z' },
		seconds,
	}));
	for (const { path, seconds } of uploads) await makeTones(path, { seconds });
	const whole = temporaryFolder();
	await killWhileRecording(whole, lab.argsOf(), uploads, { kills: 0, random: Math.random });
	const play = async (round: number) => {
		const numbers = new Faker({ locale: en, seed: seed + round });
		const random = () => numbers.number.float();
		const folder = temporaryFolder();
		await killWhileRecording(folder, lab.argsOf(), uploads, { kills: KILLS_IN_A_ROUND, random });
		expect(archivedIn(folder)).toEqual(archivedIn(whole));
		expect(await findingsIn(folder)).toEqual([]);
		expect(readdirSync(join(folder, '.lifelog-recordings'))).toEqual([]);
	};
	const rounds = Array(Math.ceil(KILLS / KILLS_IN_A_ROUND)).keys();
	const playSome = async () => {
		for (const round of rounds) await play(round);
	};
	await Promise.all(Array.from({ length: AT_A_TIME }, playSome));
});

test(`${KILLS} kills while recordings are transcribed again leave the old or the new (seed ${seed})`, async () => {
	const numbers = new Faker({ locale: en, seed });
	const random = () => numbers.number.float();
	const folder = temporaryFolder();
	await killWhileTranscribingAgain(folder, random);
	expect(await findingsIn(folder)).toEqual([]);
});

/**
 * Transcribes a recording with two lifelogs on two days again and again, and kills its server each time, a
 * random moment after it was asked. All of the old transcript or all of the new one must be there.
 *
 * @param random From 0 to 1.
 */
async function killWhileTranscribingAgain(folder: string, random: () => number): Promise<void> {
	const hears = (version: number) => {
		const text = `Version ${version}.`;
		lab.endpoint.instead = () => ({
			// They begin in other seconds, so that their files have other names.
			segments: [0, 606].map((start) => ({
				text,
				start: start + version,
				end: start + version + 1,
			})),
		});
	};
	const path = join(lab.files, 'killed.wav');
	await makeTones(path, { seconds: 640, quiet: [[2, 605]] });
	hears(0);
	let server = await startLifelogServer(folder, lab.argsOf());
	const { recording } = await uploadTo(server, path, { startTime: '2026-03-01T23:55:00Z' });
	const { id } = recording;
	const begun = () => askRecordings(server, `/${id}/transcribe-again`, { method: 'POST' });
	const ended = () => whenRecording(server, id, ({ status }) => status === 'done');
	const { lifelogIds } = await ended();
	const from = performance.now();
	await begun();
	await ended();
	const tookMs = performance.now() - from;
	await server.close();
	for (let version = 1; version <= KILLS; version += 1) {
		hears(version);
		const { child, exited, ready } = spawnLifelogServer(folder, lab.argsOf());
		server = await ready;
		await begun();
		await sleep(random() * 1.2 * tookMs);
		child.kill('SIGKILL');
		await exited;
		// As the next program that writes does.
		await clearDrafts(folder);
		const there = spokenIn(folder);
		expect([[...there.keys()].sort(), new Set(there.values()).size]).toEqual([
			[...lifelogIds].sort(),
			1,
		]);
		expect([`Version ${version - 1}.`, `Version ${version}.`]).toContain([...there.values()][0]);
		server = await startLifelogServer(folder, lab.argsOf());
		expect(await ended()).toMatchObject({ lifelogIds, error: null });
		await server.close();
		expect([...new Set(spokenIn(folder).values())]).toEqual([`Version ${version}.`]);
	}
}

/** What is said in each lifelog of an archive that wasn't deleted. */
function spokenIn(folder: string): Map<string, string> {
	const lifelogs = [...newestManifests(folder).values()].flatMap((day) =>
		Object.entries(day.lifelogs).filter(([, { deletedAt }]) => deletedAt === undefined),
	);
	return new Map(
		lifelogs.map(([id, { files }]) => {
			const { path } = files.find(({ path }) => path.endsWith('.json'))!;
			const lifelog = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Lifelog;
			return [
				id,
				said(lifelog)
					.map(({ content }) => content)
					.join(' '),
			];
		}),
	);
}
