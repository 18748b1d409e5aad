import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findSilences } from '../../server/recordings/ffmpeg.mts';
import { temporaryFolder } from './sources.mts';

const PAUSES = 2000;
/** Each pause and the tone before it. */
const PERIOD_S = 0.6;
const TONE_S = 0.2;

test('every pause of a long recording is found', async () => {
	const path = join(temporaryFolder(), 'pauses.wav');
	const lengthS = PAUSES * PERIOD_S;
	const source = `aevalsrc='lt(mod(t,${PERIOD_S}),${TONE_S})*sin(2800*t)/2':s=16000:d=${lengthS}`;
	await promisify(execFile)('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, path]);

	const { durationMs, silences } = await findSilences(path, { timeoutMs: 600_000 });

	expect(durationMs).toBe(lengthS * 1000);
	expect(silences).toHaveLength(PAUSES);
	for (const [nth, { startMs, endMs }] of silences.entries()) {
		expect(Math.abs(startMs - (nth * PERIOD_S + TONE_S) * 1000)).toBeLessThan(20);
		expect(Math.abs(endMs - (nth + 1) * PERIOD_S * 1000)).toBeLessThan(20);
	}
});
