import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cutChunks } from '../../../server/recordings/encoders.mts';
import { listen } from '../../../server/recordings/sound.mts';
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
	const isTone = `lt(mod(t,${PERIOD_S}),${TONE_S})*(1-between(t,${FROM_S},${TO_S}))`;
	const source = `aevalsrc='${isTone}*sin(2800*t)/2':s=16000:d=${lengthS}`;
	await promisify(execFile)('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, path]);

	const sound = await listen(path, folder);
	const chunks = await cutChunks(sound, folder, { format: 'mp3', maxSeconds: 600 });

	expect(sound.durationMs).toBe(lengthS * 1000);
	const middleMs = ((FROM_S + TO_S) * 1000) / 2;
	expect(Math.abs(chunks[1].offsetMs - middleMs)).toBeLessThan(PERIOD_S * 1000);
	expect(chunks.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBe(lengthS * 1000);
});
