import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutChunks } from '../../../server/recordings/encoders.mts';
import { listen } from '../../../server/recordings/sound.mts';
import { RATE, wavOf } from '../../support/tones.mts';
import { temporaryFolder } from '../sources.mts';

const PAUSES = 2000;
/** Each pause and the tone before it. */
const PERIOD_S = 0.6;
const TONE_S = 0.2;
/** A longer one. */
const [FROM_S, TO_S] = [550, 551];

test('a recording with thousands of pauses is cut at the longest', async () => {
	const folder = temporaryFolder();
	const path = join(folder, 'pauses.wav');
	const lengthS = PAUSES * PERIOD_S;
	const period = new Int16Array(RATE * PERIOD_S);
	for (let at = 0; at < RATE * TONE_S; at += 1) {
		period[at] = 2 ** 14 * Math.sin((2800 * at) / RATE);
	}
	const samples = new Int16Array(RATE * lengthS);
	for (let nth = 0; nth < PAUSES; nth += 1) samples.set(period, nth * period.length);
	samples.fill(0, FROM_S * RATE, TO_S * RATE);
	writeFileSync(path, wavOf(samples));

	const sound = await listen(path, folder);
	const chunks = await cutChunks(sound, folder, { format: 'wav', maxSeconds: 600 });

	expect(sound.durationMs).toBe(lengthS * 1000);
	const middleMs = ((FROM_S + TO_S) * 1000) / 2;
	expect(Math.abs(chunks[1].offsetMs - middleMs)).toBeLessThan(PERIOD_S * 1000);
	expect(chunks.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBe(lengthS * 1000);
});
