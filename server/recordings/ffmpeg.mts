import { execFile, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** A recording is permanently unreadable. The message says why and what to do. */
export class MediaError extends Error {}

const CONTAINERS = 'aac,aiff,amr,amrnb,amrwb,asf,caf,flac,matroska,mov,mp3,ogg,w64,wav';
const CODECS = [
	'aac,aac_latm,ac3,eac3,alac,amrnb,amrwb,flac,gsm,gsm_ms,mp2,mp2float,mp3,mp3float,opus,vorbis',
	'adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_yamaha,libspeex,speex',
	'wmapro,wmav1,wmav2,wmavoice',
	'pcm_alaw,pcm_mulaw,pcm_f32be,pcm_f32le,pcm_f64le,pcm_s8,pcm_u8',
	'pcm_s16be,pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32be,pcm_s32le',
].join();

/** In KiB. A typical run takes about 60 MiB, plus libraries, which count, too. */
const MAX_MEMORY = 2 ** 20;
const MAX_ALLOCATION = 2 ** 29;
const MIN_TIMEOUT_MS = 10 * 60_000;
const TIMEOUT_MS_PER_MIB = 20_000;
/** A busy machine needs an hour for a day of audio. */
const MAX_ENCODE_MS = 24 * 3_600_000;
const MAX_METADATA_LENGTH = 2 ** 26;
const MAX_ERROR_LENGTH = 16_384;

const execute = promisify(execFile);

/** Throws an Error with the install command if ffmpeg is missing or lacks an encoder. */
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

/** Interleaved samples of all channels, in whole frames. */
export interface Block {
	channels: number;
	samples: Int16Array;
}

/**
 * Decodes a track, counted from 0. Timestamps are ignored: otherwise, gaps in a recording would be
 * filled with silence in memory.
 *
 * @throws MediaError if it is unreadable.
 */
export async function* decode(
	path: string,
	track: number,
	rate: number,
	signal?: AbortSignal,
): AsyncGenerator<Block> {
	const pcm = ['-ar', String(rate), '-c:a', 'pcm_s16le', '-bitexact', '-f', 'wav', 'pipe:1'];
	const { child, ended, stop } = start([...inputOf(path), '-map', `0:a:${track}`, ...pcm], {
		...{ timeoutMs: await timeoutFor(path), signal, stdin: 'ignore' },
	});
	let rest = Buffer.alloc(0);
	let channels: number | undefined;
	try {
		for await (const data of child.stdout!) {
			rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
			if (channels === undefined) {
				const header = rest.indexOf('data', WAV_FORMAT_END);
				if (header === -1 || rest.length < header + 8) continue;
				channels = rest.readUInt16LE(WAV_CHANNELS);
				rest = rest.subarray(header + 8);
			}
			const samples = new Int16Array(channels * Math.floor(rest.length / (2 * channels)));
			rest.copy(Buffer.from(samples.buffer));
			rest = rest.subarray(samples.byteLength);
			yield { channels, samples };
		}
		await ended;
	} finally {
		await stop();
	}
}

/** Offset of the number of channels in a WAV file, and the earliest end of its format chunk. */
const WAV_CHANNELS = 22;
const WAV_FORMAT_END = 36;

/**
 * Encodes mono samples to a file. Replaces the file at `to`; a failure may leave a part of it.
 *
 * @throws Errors of `samples`; an Error with code ENOSPC if the disk is full.
 */
export async function encode(
	samples: Iterable<Int16Array> | AsyncIterable<Int16Array>,
	rate: number,
	to: { path: string; codec: string[]; format: string; maxBytes: number },
	signal?: AbortSignal,
): Promise<void> {
	const input = ['-f', 's16le', '-ar', String(rate), '-i', 'pipe:0'];
	const output = ['-bitexact', '-fs', String(to.maxBytes), '-f', to.format];
	const { child, ended, stop } = start(
		[...input, ...to.codec, ...output, `file:${resolve(to.path)}`],
		{ timeoutMs: MAX_ENCODE_MS, signal, stdin: 'pipe' },
	);
	try {
		await pipeline(bytesOf(samples), child.stdin!).catch((error: unknown) => {
			// ffmpeg ended early and reports the reason.
			if (!ENDED_BEFORE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
		});
		await ended;
	} finally {
		await stop();
	}
}

/** Errors of a pipe to a program that has ended. */
const ENDED_BEFORE = ['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_PREMATURE_CLOSE'];

async function* bytesOf(
	samples: Iterable<Int16Array> | AsyncIterable<Int16Array>,
): AsyncGenerator<Buffer> {
	for await (const { buffer, byteOffset, byteLength } of samples) {
		yield Buffer.from(buffer, byteOffset, byteLength);
	}
}

/** Metadata of a file. */
export interface Described {
	/** Number of audio tracks. */
	tracks: number;
	/** The container's `creation_time` in epoch ms, if any. */
	createdMs?: number;
}

/** Reads a file's metadata. Throws a MediaError if it is unreadable. */
export async function describe(path: string, signal?: AbortSignal): Promise<Described> {
	// Needed to make ffmpeg print the time.
	const { child, ended, stop } = start(
		[...inputOf(path), '-map_metadata', '0', '-f', 'ffmetadata', 'pipe:1'],
		{ timeoutMs: await timeoutFor(path), signal, stdin: 'ignore', verbosity: 'info' },
	);
	let said = '';
	child.stderr!.on('data', (data: string) => {
		if (said.length < MAX_METADATA_LENGTH) said += data;
	});
	let text = '';
	try {
		for await (const data of child.stdout!.setEncoding('utf8')) {
			text += data;
			if (text.length > MAX_METADATA_LENGTH) throw unreadable();
		}
		await ended;
	} finally {
		await stop();
	}
	const createdMs = Date.parse(/^creation_time=(.*)$/m.exec(text)?.[1] ?? '');
	const tracks = [...said.matchAll(AUDIO_TRACK)].length;
	return { tracks, ...(!Number.isNaN(createdMs) && { createdMs }) };
}

const AUDIO_TRACK = /^[ \t]*Stream #0:\d+\S*: Audio: /gm;

/** Generous for a busy machine, but limited for a malicious file. */
async function timeoutFor(path: string): Promise<number> {
	const found = await stat(path);
	if (!found.isFile()) throw new MediaError("This isn't a file. Choose a recording");
	if (found.size === 0) {
		throw new MediaError('The file is empty. Copy it from the recorder again');
	}
	return MIN_TIMEOUT_MS + Math.ceil(found.size / 2 ** 20) * TIMEOUT_MS_PER_MIB;
}

// Playlists and the like aren't accepted as containers, and files can't refer to URLs.
const inputOf = (path: string) => [
	...['-format_whitelist', CONTAINERS, '-codec_whitelist', CODECS],
	...['-protocol_whitelist', 'file,pipe', '-i', `file:${resolve(path)}`],
];

/** Without the server's keys. */
const environment = () => ({ PATH: process.env.PATH, LC_ALL: 'C' });

interface StartOptions {
	timeoutMs: number;
	signal: AbortSignal | undefined;
	stdin: 'ignore' | 'pipe';
	verbosity?: 'error' | 'info';
}

/**
 * Starts ffmpeg. `ended` rejects with the reason of a failure or of `signal`. `stop` kills ffmpeg
 * if it is still running, and waits for its end.
 */
function start(args: string[], { timeoutMs, signal, stdin, verbosity = 'error' }: StartOptions) {
	signal?.throwIfAborted();
	const timeout = AbortSignal.timeout(timeoutMs);
	const stopped = new AbortController();
	const limits = ['-max_alloc', String(MAX_ALLOCATION), '-threads', '1'];
	const all = ['-nostdin', '-hide_banner', '-y', '-v', verbosity, ...limits, ...args];
	const shell = `ulimit -v ${MAX_MEMORY} 2>/dev/null; ulimit -c 0; exec "$0" "$@"`;
	const [command, given] =
		process.platform === 'win32' ? ['ffmpeg', all] : ['sh', ['-c', shell, 'ffmpeg', ...all]];
	const child = spawn(command, given, {
		stdio: [stdin, 'pipe', 'pipe'],
		env: environment(),
		signal: AbortSignal.any([timeout, stopped.signal, ...(signal ? [signal] : [])]),
		killSignal: 'SIGKILL',
	});
	let problem = '';
	child.stderr!.setEncoding('utf8').on('data', (text: string) => {
		problem = (problem + text).slice(-MAX_ERROR_LENGTH);
	});
	const closed = new Promise<[number | null, string | null]>((resolve, reject) => {
		child.once('close', (...end) => resolve(end));
		child.once('error', (error) => {
			// After a kill, `close` still follows.
			if (error.name !== 'AbortError') reject(error);
		});
	});
	const ended = closed.then(([code, killedBy]) => {
		signal?.throwIfAborted();
		if (timeout.aborted) {
			const minutes = Math.round(timeoutMs / 60_000);
			throw new MediaError(
				`The file takes longer than ${minutes} minutes to read. Convert it first`,
			);
		}
		throwFor(code, killedBy, problem);
	});
	ended.catch(() => {});
	const stop = async () => {
		stopped.abort();
		child.stdout!.resume();
		await closed.catch(() => {});
	};
	return { child, ended, stop };
}

const unreadable = () =>
	new MediaError(
		"The file isn't a recording that the server can read. Check that it can be played, and convert it to m4a, mp3, ogg or wav",
	);
const DISK_FULL = /No space left on device|Disk quota exceeded/;
/** Problems of the folder, or of a recording that just disappeared. */
const FILE_PROBLEM =
	/Read-only file system|Permission denied|No such file or directory|Too many open files|(?:writ|mux|output).*Input\/output error/i;
/**
 * Signals of a crash that the file caused. Other signals come from the machine, for example for
 * lack of memory.
 */
const CRASHES = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];
/** Shell exit codes for a missing or unusable program. */
const NOT_STARTED = [126, 127];

/** Throws the error of an exit status. ffmpeg may report success although the disk was full. */
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
