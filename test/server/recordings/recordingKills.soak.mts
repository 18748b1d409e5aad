import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { en, Faker } from '@faker-js/faker';
import { findingsIn } from '../../support/findings.mts';
import { killWhileTranscribingAgain, RecordingLab } from '../../support/recordingLab.mts';
import { archivedIn, killWhileRecording } from '../../support/recordings.mts';
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
	await killWhileTranscribingAgain(lab, folder, { kills: KILLS, random });
	expect(await findingsIn(folder)).toEqual([]);
});
