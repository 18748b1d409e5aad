import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { MAX_HOURS } from './segments.mts';

/** A recording that can't be read, however often it is tried. Its message says why and what to do. */
export class MediaError extends Error {}

/** A part of a recording that is short enough for a transcription endpoint. */
export interface Chunk {
	path: string;
	/** Where it begins in the recording. */
	offsetMs: number;
	durationMs: number;
}

export type ChunkFormat = 'mp3' | 'wav';

interface CutOptions {
	format: ChunkFormat;
	/** By default what endpoints take. */
	maxSeconds?: number;
	signal?: AbortSignal;
}

interface Silence {
	startMs: number;
	endMs: number;
}

const CONTAINERS = 'aac,aiff,amr,amrnb,amrwb,asf,caf,flac,matroska,mov,mp3,ogg,w64,wav';
const CODECS = [
	'aac,aac_latm,ac3,eac3,alac,amrnb,amrwb,flac,gsm,gsm_ms,mp2,mp2float,mp3,mp3float,opus,vorbis',
	'adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_yamaha,libspeex,speex',
	'wmapro,wmav1,wmav2,wmavoice',
	'pcm_alaw,pcm_mulaw,pcm_f32be,pcm_f32le,pcm_f64le,pcm_s8,pcm_u8',
	'pcm_s16be,pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32be,pcm_s32le',
].join();

/** In KiB; a usual run takes some 60 MiB beside the libraries, which count here. */
const MAX_MEMORY = 2 ** 20;
const MAX_ALLOCATION = 2 ** 29;
/** Far above what `MAX_HOURS` and the length of a chunk take: ffmpeg doesn't say that it stopped. */
const MAX_OPUS_BYTES = 2 ** 32;
const MAX_CHUNK_BYTES = 2 ** 26;
const MIN_TIMEOUT_MS = 10 * 60_000;
const TIMEOUT_MS_PER_MIB = 20_000;
const MAX_OUTPUT_LENGTH = 2 ** 26;
const MAX_ERROR_LENGTH = 16_384;

/** 1,400 s and 25 MB are what the strictest endpoint takes. */
const MAX_CHUNK_SECONDS = { mp3: 1380, wav: 700 };
const CUT_WINDOW_MS = 2 * 60_000;
/** Endpoints refuse what is shorter than a tenth of it. */
const MIN_LAST_CHUNK_MS = 1000;
/**
 * Samples in a row: what is missing in a recording would be filled with silence in memory, and moves
 * what follows in the stored audio and in the chunks alike.
 */
const IN_A_ROW = 'asetpts=N/SR/TB';
const CHUNK_AUDIO = `aresample=16000,aformat=sample_fmts=s16:channel_layouts=mono,${IN_A_ROW}`;
const SILENCE = 'silencedetect=noise=-35dB:duration=0.3';

const execute = promisify(execFile);

/** Throws an Error with the command that installs ffmpeg if it is missing, or can't write what is needed. */
export async function checkFfmpeg(): Promise<void> {
	const command = process.platform === 'darwin' ? 'brew install ffmpeg' : 'apt-get install ffmpeg';
	const args = ['-hide_banner', '-encoders'];
	const { stdout } = await execute('ffmpeg', args, { env: environment() }).catch(() => {
		throw new Error(`ffmpeg can't be started. Install it: ${command}`);
	});
	const missing = ['libopus', 'libmp3lame'].find((encoder) => !stdout.includes(` ${encoder} `));
	if (missing !== undefined) {
		throw new Error(`ffmpeg was built without ${missing}. Install one that has it: ${command}`);
	}
}

/**
 * Returns how long a recording is, as far as it can be read, and its container's `creation_time` in
 * epoch ms, if it has one.
 *
 * @throws MediaError if nothing of it can be read.
 */
export async function probeRecording(
	path: string,
	{ signal }: { signal?: AbortSignal } = {},
): Promise<{ durationMs: number; createdMs?: number }> {
	const timeoutMs = await timeoutFor(path);
	const copied = ['-map', '0:a:0', '-c', 'copy', '-f', 'null', '-'];
	let created = '';
	// Without being told to, ffmpeg leaves the time out.
	const metadata = ['-map_metadata', '0', '-f', 'ffmetadata', 'pipe:1'];
	const { durationMs } = await run([...inputOf(path), ...copied, ...metadata], {
		timeoutMs,
		signal,
		onLine: (line) => {
			if (line.startsWith(CREATED)) created = line.slice(CREATED.length);
		},
	});
	checkLength(durationMs);
	const createdMs = Date.parse(created);
	return { durationMs, ...(!Number.isNaN(createdMs) && { createdMs }) };
}

const CREATED = 'creation_time=';

/**
 * Writes a whole recording as Ogg Opus, mono, for speech. The same recording always gives the same
 * bytes. Replaces what is at `to`; after a failure, part of it may be there.
 *
 * @throws MediaError if it can't be read; an Error with the code ENOSPC if the disk is full.
 */
export async function encodeOpus(
	path: string,
	to: string,
	{ signal }: { signal?: AbortSignal } = {},
): Promise<void> {
	const timeoutMs = await timeoutFor(path);
	const opus = [
		'-c:a',
		'libopus',
		'-b:a',
		'32k',
		'-application',
		'voip',
		'-ac',
		'1',
		'-ar',
		'48000',
	];
	await run(
		[
			...inputOf(path),
			...['-map', '0:a:0', '-af', IN_A_ROW, '-t', String(MAX_HOURS * 3600), ...opus],
			...outputOf(to, 'ogg', MAX_OPUS_BYTES),
		],
		{ timeoutMs, signal },
	);
}

/**
 * Cuts a recording into chunks of 16 kHz, mono, in its order: at the longest silence of the last two
 * minutes of each, if there is one. No sample is left out or in two chunks. After a failure, some
 * files may be in `folder`, and files of the same names are replaced.
 *
 * @throws MediaError if it can't be read; an Error with the code ENOSPC if the disk is full.
 */
export async function cutChunks(
	path: string,
	folder: string,
	{ format, maxSeconds = MAX_CHUNK_SECONDS[format], signal }: CutOptions,
): Promise<Chunk[]> {
	const timeoutMs = await timeoutFor(path);
	const { durationMs, silences } = await findSilences(path, { timeoutMs, signal });
	checkLength(durationMs);
	const offsets = offsetsOf(durationMs, silences, maxSeconds * 1000);
	const chunks = offsets.map((offsetMs, index) => ({
		path: join(folder, `${String(index + 1).padStart(3, '0')}.${format}`),
		offsetMs,
		durationMs: (offsets[index + 1] ?? durationMs) - offsetMs,
	}));
	const split = chunks.map((_chunk, index) => `[all${index}]`).join('');
	const trimmed = chunks.map(
		({ offsetMs, durationMs: length }, index) =>
			`[all${index}]atrim=start=${offsetMs / 1000}:duration=${length / 1000},${IN_A_ROW}[chunk${index}]`,
	);
	const graph = [`[0:a:0]${CHUNK_AUDIO},asplit=${chunks.length}${split}`, ...trimmed].join(';');
	const codec = { mp3: ['-c:a', 'libmp3lame', '-b:a', '64k'], wav: ['-c:a', 'pcm_s16le'] }[format];
	const outputs = chunks.flatMap((chunk, index) => [
		...['-map', `[chunk${index}]`, ...codec],
		...outputOf(chunk.path, format, MAX_CHUNK_BYTES),
	]);
	await run([...inputOf(path), '-filter_complex', graph, ...outputs], {
		timeoutMs,
		signal,
	});
	return chunks;
}

/**
 * Returns how long a recording is, and its pauses of 0.3 s or more, in their order.
 *
 * @throws MediaError if it can't be read.
 */
export async function findSilences(
	path: string,
	options: Pick<RunOptions, 'timeoutMs' | 'signal'>,
): Promise<{ durationMs: number; silences: Silence[] }> {
	const silences: Silence[] = [];
	let startMs: number | undefined;
	const filters = `${CHUNK_AUDIO},${SILENCE},ametadata=mode=print:file=-`;
	const { durationMs } = await run(
		[
			...[...inputOf(path), '-map', '0:a:0', '-af', filters],
			...['-t', String(MAX_HOURS * 3600), '-f', 'null', '-'],
		],
		{
			...options,
			onLine: (line) => {
				const [, edge, seconds] = /^lavfi\.silence_(start|end)=(-?[\d.]+)$/.exec(line) ?? [];
				if (edge === 'start') startMs = Number(seconds) * 1000;
				if (edge !== 'end' || startMs === undefined) return;
				silences.push({ startMs, endMs: Number(seconds) * 1000 });
				startMs = undefined;
			},
		},
	);
	if (startMs !== undefined) silences.push({ startMs, endMs: durationMs });
	return { durationMs, silences };
}

/** Where chunks begin, in whole milliseconds. */
function offsetsOf(durationMs: number, silences: Silence[], maxMs: number): number[] {
	const windowMs = Math.min(CUT_WINDOW_MS, maxMs / 2);
	const offsets = [0];
	for (let from = 0; durationMs - from > maxMs; from = offsets.at(-1)!) {
		const latest = Math.min(from + maxMs, durationMs - MIN_LAST_CHUNK_MS);
		const earliest = from + maxMs - windowMs;
		let longest = { startMs: latest, endMs: latest };
		for (const silence of silences) {
			const startMs = Math.max(silence.startMs, earliest);
			const endMs = Math.min(silence.endMs, latest);
			if (endMs - startMs > longest.endMs - longest.startMs) longest = { startMs, endMs };
		}
		offsets.push(Math.round((longest.startMs + longest.endMs) / 2));
	}
	return offsets;
}

function checkLength(durationMs: number): void {
	if (durationMs === 0) {
		throw new MediaError(
			'The file is damaged, so nothing can be heard. Copy it from the recorder again',
		);
	}
	if (durationMs >= MAX_HOURS * 3_600_000) {
		throw new MediaError(`The recording is longer than ${MAX_HOURS} hours. Split it`);
	}
}

/** Generous: a busy machine is slow, and a hostile file goes on and on. */
async function timeoutFor(path: string): Promise<number> {
	const found = await stat(path);
	if (!found.isFile()) throw new MediaError("This isn't a file. Choose a recording");
	if (found.size === 0) {
		throw new MediaError('The file is empty. Copy it from the recorder again');
	}
	return MIN_TIMEOUT_MS + Math.ceil(found.size / 2 ** 20) * TIMEOUT_MS_PER_MIB;
}

// Playlists and their kind are no containers here, and what a file refers to may be no address.
const inputOf = (path: string) => [
	...['-format_whitelist', CONTAINERS, '-codec_whitelist', CODECS],
	...['-protocol_whitelist', 'file,pipe', '-i', `file:${resolve(path)}`],
];

const outputOf = (path: string, format: string, maxBytes: number) => [
	...['-map_metadata', '-1', '-map_chapters', '-1', '-bitexact', '-fs', String(maxBytes)],
	...['-f', format, `file:${resolve(path)}`],
];

/** Without the server's keys. */
const environment = () => ({ PATH: process.env.PATH, LC_ALL: 'C' });

interface RunOptions {
	timeoutMs: number;
	signal?: AbortSignal;
	/** Receives what ffmpeg prints. */
	onLine?: (line: string) => void;
}

/** Runs ffmpeg, and returns how long its output is. */
async function run(
	args: string[],
	{ timeoutMs, signal, onLine }: RunOptions,
): Promise<{ durationMs: number }> {
	signal?.throwIfAborted();
	const timeout = AbortSignal.timeout(timeoutMs);
	const limits = ['-max_alloc', String(MAX_ALLOCATION), '-threads', '1'];
	// In a pipe of its own: elsewhere it could cut another line, or a file's metadata could look like it.
	const progress = ['-progress', 'pipe:3'];
	const all = ['-nostdin', '-y', '-v', 'error', ...limits, ...progress, ...args];
	const shell = `ulimit -v ${MAX_MEMORY} 2>/dev/null; ulimit -c 0; exec "$0" "$@"`;
	const [command, given] =
		process.platform === 'win32' ? ['ffmpeg', all] : ['sh', ['-c', shell, 'ffmpeg', ...all]];
	const tooMuch = new AbortController();
	const child = spawn(command, given, {
		stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
		env: environment(),
		signal: AbortSignal.any([timeout, tooMuch.signal, ...(signal ? [signal] : [])]),
		killSignal: 'SIGKILL',
	});
	let length = 0;
	let durationMs = 0;
	const readLines = (input: Readable, onEach?: (line: string) => void) => {
		input.on('data', (data: Buffer) => {
			length += data.length;
			if (length > MAX_OUTPUT_LENGTH) tooMuch.abort();
		});
		const lines = createInterface({ input });
		lines.on('line', (line) => onEach?.(line));
		return once(lines, 'close');
	};
	const linesRead = Promise.all([
		readLines(child.stdout!, onLine),
		readLines(child.stdio[3] as Readable, (line) => {
			const [, microseconds] = /^out_time_us=(\d+)$/.exec(line) ?? [];
			if (microseconds !== undefined) durationMs = Math.round(Number(microseconds) / 1000);
		}),
	]);
	let problem = '';
	child.stderr!.setEncoding('utf8').on('data', (text: string) => {
		problem = (problem + text).slice(-MAX_ERROR_LENGTH);
	});
	const [code, killedBy] = await new Promise<[number | null, string | null]>((resolve, reject) => {
		child.once('close', (...ended) => resolve(ended));
		child.once('error', (error) => {
			// What was killed still ends.
			if (error.name !== 'AbortError') reject(error);
		});
	});
	await linesRead;
	signal?.throwIfAborted();
	if (timeout.aborted) {
		const minutes = Math.round(timeoutMs / 60_000);
		throw new MediaError(`The file takes longer than ${minutes} minutes to read. Convert it first`);
	}
	if (tooMuch.signal.aborted) throw unreadable();
	throwFor(code, killedBy, problem);
	return { durationMs };
}

const unreadable = () =>
	new MediaError(
		"The file isn't a recording that the server can read. Check that it can be played, and convert it to m4a, mp3, ogg or wav",
	);
const DISK_FULL = /No space left on device|Disk quota exceeded/;
/** Of the folder, or of a recording that was there a moment ago. */
const FILE_PROBLEM =
	/Read-only file system|Permission denied|No such file or directory|Too many open files|(?:writ|mux|output).*Input\/output error/i;
/** Of a program that a file has brought down. Others come from the machine, which may be short of memory. */
const CRASHES = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];
/** What a shell ends with if a program is not there or can't be started. */
const NOT_STARTED = [126, 127];

/** Throws what the end of a program means. ffmpeg may report success though the disk was full. */
function throwFor(code: number | null, killedBy: string | null, problem: string): void {
	const [full] = DISK_FULL.exec(problem) ?? [];
	if (full) throw Object.assign(new Error(`The disk is full: ${full}`), { code: 'ENOSPC' });
	if (code === 0) return;
	const [other] = FILE_PROBLEM.exec(problem) ?? [];
	if (other) throw new Error(`ffmpeg can't use its files: ${other}`);
	if (killedBy !== null && !CRASHES.includes(killedBy)) {
		throw new Error(`ffmpeg was ended by ${killedBy}`);
	}
	if (NOT_STARTED.includes(code ?? 0)) throw new Error("ffmpeg can't be started");
	if (/matches no streams/.test(problem)) {
		throw new MediaError('The file has no sound. Choose a recording with an audio track');
	}
	if (/moov atom not found/.test(problem)) {
		throw new MediaError(
			'The recording was interrupted before its end was written, so nothing of it can be read. Copy it from the recorder again',
		);
	}
	throw unreadable();
}
