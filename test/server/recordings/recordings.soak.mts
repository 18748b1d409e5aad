import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { joinChunks, Transcriber } from '../../../server/recordings/transcribe.mts';
import type { cutChunks } from '../../../server/recordings/encoders.mts';
import { makeTones, TONE_FROM_MS } from '../../support/tones.mts';
import { startTranscription, wordsOf } from '../../support/transcription.mts';

const SECONDS = 3600;
/** Of the recording that ffmpeg alone encodes, to compare. */
const PART_SECONDS = 600;
/** In multiples of what ffmpeg alone takes for the same files. */
const MAX_CPU = 2;
const MAX_MEMORY_MIB = 150;
const execute = promisify(execFile);
/** CPU and memory of children are read from /proc. */
const linuxTest = process.platform === 'linux' ? test : test.skip;

let folder: string;
let recording: string;
/** What an endpoint says that takes longer than five minutes: the other tests go on meanwhile. */
let late: ReturnType<typeof transcribeLate>;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'lifelog-soak-'));
	recording = join(folder, 'hour.m4a');
	await makeTones(recording, { seconds: SECONDS });
	late = transcribeLate();
	late.catch(() => {});
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function transcribeLate() {
	const endpoint = await startTranscription();
	const path = join(folder, 'short.mp3');
	await makeTones(path, { seconds: 2 });
	endpoint.fault = (response) =>
		void setTimeout(() => response.end(JSON.stringify({ text: 'Late.' })), 320_000);
	const options = { url: endpoint.url, model: 'whisper-1', key: undefined, format: 'mp3' } as const;
	try {
		return await new Transcriber(options).transcribe(path, { durationMs: 2000 });
	} finally {
		await endpoint.close();
	}
}

/**
 * Run in a process of its own: prints the chunks of a recording, the seconds of CPU that it and its
 * children took, those that ffmpeg alone takes, and the most memory that it needed more than before,
 * together with its largest child, in MiB.
 */
const measure = (modules: string) => `
	import { execFileSync } from 'node:child_process';
	import { readFileSync } from 'node:fs';
	import { cutChunks, encodeOpus } from ${JSON.stringify(`${modules}/encoders.mts`)};
	import { listen } from ${JSON.stringify(`${modules}/sound.mts`)};
	const [, path, folder] = process.argv;
	const read = (name) => {
		try {
			return readFileSync('/proc/' + name, 'utf8');
		} catch {
			return '';
		}
	};
	const peakOf = (pid) => Number(/^VmHWM:\\s*(\\d+)/m.exec(read(pid + '/status'))?.[1] ?? 0);
	const before = peakOf('self');
	let ofChildren = 0;
	const timer = setInterval(() => {
		const children = read('self/task/' + process.pid + '/children');
		for (const pid of children.trim().split(' ')) ofChildren = Math.max(ofChildren, peakOf(pid));
	}, 20);
	const sound = await listen(path, folder);
	await encodeOpus(sound, folder + '/all.ogg');
	const chunks = await cutChunks(sound, folder, { format: 'mp3' });
	clearInterval(timer);
	const mebibytes = (peakOf('self') - before + ofChildren) / 1024;
	// After the name: user and system time of the process and of its children, in hundredths.
	const cpu = () => {
		const fields = read('self/stat').split(') ').at(-1).split(' ').map(Number);
		return fields.slice(11, 15).reduce((sum, each) => sum + each, 0) / 100;
	};
	const seconds = cpu();
	for (const output of ['-ar 48000 -c:a libopus -b:a 32k -f ogg', '-ar 16000 -b:a 64k -f mp3']) {
		const input = ['-v', 'error', '-t', '${PART_SECONDS}', '-i', path];
		execFileSync('ffmpeg', [...input, ...output.split(' '), '-'], { maxBuffer: 2 ** 30 });
	}
	console.log(JSON.stringify({ chunks, seconds, alone: (cpu() - seconds) * ${SECONDS / PART_SECONDS}, mebibytes }));`;

interface Measured {
	chunks: Awaited<ReturnType<typeof cutChunks>>;
	seconds: number;
	alone: number;
	mebibytes: number;
}

let measured: Measured;
beforeAll(async () => {
	const modules = pathToFileURL(resolve('server/recordings')).href;
	const { stdout } = await execute(process.execPath, [
		...['--input-type=module', '-e', measure(modules), recording, folder],
	]);
	measured = JSON.parse(stdout) as Measured;
});

linuxTest('an hour takes at most twice the CPU of ffmpeg alone, and 150 MiB', () => {
	const { seconds, alone, mebibytes } = measured;
	console.log(`${seconds} s of CPU, ffmpeg alone ${alone} s, ${mebibytes} MiB`);
	expect(alone).toBeGreaterThan(1);
	expect(seconds / alone).toBeLessThan(MAX_CPU);
	expect(mebibytes).toBeGreaterThan(10);
	expect(mebibytes).toBeLessThan(MAX_MEMORY_MIB);
});

test('each second of an hour has the right time, in chunks of the usual size', async () => {
	const endpoint = await startTranscription();
	expect(measured.chunks).toHaveLength(3);
	const options = { url: endpoint.url, model: 'whisper-1', key: undefined, format: 'mp3' } as const;
	const transcriber = new Transcriber(options);
	const parts = [];
	for (const { path, offsetMs, durationMs } of measured.chunks) {
		parts.push({ offsetMs, segments: await transcriber.transcribe(path, { durationMs }) });
	}
	const segments = joinChunks(parts);
	expect(segments.map(({ text }) => text)).toEqual(
		Array.from({ length: SECONDS }, (_, second) => wordsOf(second)),
	);
	for (const [second, { startMs }] of segments.entries()) {
		expect(Math.abs(startMs - second * 1000 - TONE_FROM_MS)).toBeLessThanOrEqual(20);
	}
	await endpoint.close();
});

test('an endpoint can take longer than five minutes', async () => {
	expect(await late).toEqual([{ text: 'Late.', startMs: 0, endMs: 2000 }]);
});
