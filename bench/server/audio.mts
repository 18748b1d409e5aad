// A day of sound, from lifelog-server: how soon it begins, and how fast it comes.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from 'simple-statistics';
import { writeArchive } from '../../test/support/archive.mts';
import { writeOgg } from '../../test/support/ogg.mts';
import { figureOf, ratioOf, type Row, spreadOf } from '../figures.mts';
import { serve, type Served } from './processes.mts';

const PART_MS = 2 * 3_600_000;
const PARTS = 12;
const ROUNDS = 5;
const CONCURRENT_CUTS = 30;
const PIECE_MS = 10_000;
/** What a disk gives, in MB/s. */
const DISK = 100;
const FIRST_MS = Date.parse('2026-03-01T00:00:00Z');
const startOf = (part: number) => FIRST_MS + part * PART_MS;

/** Two hours of Ogg Opus with packets of 20 ms, as long as those of speech are (24 kbit/s). */
function partOfDay(): Buffer {
	const packets = Array.from({ length: PART_MS / 20 }, (_, nth) => {
		const packet = Buffer.alloc(40 + ((nth * 7) % 41), nth % 251);
		packet[0] = 0xf8;
		return packet;
	});
	return writeOgg({ serial: 1, preSkip: 0, packets, perPage: 50, origin: 0, trim: 0 });
}

/** Reads a range; gives the ms until its first bytes came, and all of its bytes. */
async function read(served: Served, startMs: number, endMs: number) {
	const began = performance.now();
	const response = await fetch(
		`${served.url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`,
		{ headers: { 'X-API-Key': served.apiKey } },
	);
	if (!response.ok || !response.body) throw new Error(`The audio answered ${response.status}`);
	let firstMs: number | undefined;
	let bytes = 0;
	const reader = response.body.getReader();
	for (let next = await reader.read(); !next.done; next = await reader.read()) {
		firstMs ??= performance.now() - began;
		bytes += next.value.length;
	}
	return { firstMs: firstMs!, bytes };
}

/** Serves a day of sound, and measures. */
export async function audioRows(main: string): Promise<Row[]> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-server-audio-'));
	try {
		const content = partOfDay();
		const audio = Array.from({ length: PARTS }, (_, part) => ({
			startMs: startOf(part),
			endMs: startOf(part + 1),
			content,
		}));
		await writeArchive(folder, { audio });
		const names = await readdir(folder, { recursive: true });
		const files = names.filter((name) => name.endsWith('.ogg'));
		if (files.length !== PARTS) throw new Error(`${files.length} files of audio were written`);
		const served = await serve(main, [folder, '--json', '--port', '0']);
		const piece = async (part: number, second: number) => {
			const startMs = startOf(part) + second * 1000;
			return (await read(served, startMs, startMs + PIECE_MS)).firstMs;
		};
		const first: number[] = [];
		for (let part = 0; part < PARTS; part += 1) first.push(await piece(part, 600 * part));
		const again: number[] = [];
		for (let nth = 0; nth < 100; nth += 1) again.push(await piece(nth % PARTS, 61 * nth));

		// Of a server that has not read the file yet.
		const index = join(folder, 'other.sqlite');
		const fresh = await serve(main, [folder, '--json', '--port', '0', '--index', index]);
		const cpuIdle = fresh.cpuMs();
		await read(fresh, startOf(0), startOf(0) + PIECE_MS);
		const cpuOfOne = fresh.cpuMs() - cpuIdle;
		const seconds = Array.from({ length: CONCURRENT_CUTS }, (_, nth) => startOf(1) + nth * 1000);
		await Promise.all(seconds.map((startMs) => read(fresh, startMs, startMs + PIECE_MS)));
		const cpuOfMany = fresh.cpuMs() - cpuIdle - cpuOfOne;
		await fresh.close();

		const cpuBefore = served.cpuMs();
		const sent: number[] = [];
		const fromDisk: number[] = [];
		for (let round = 0; round < ROUNDS; round += 1) {
			let began = performance.now();
			for (let part = 0; part < PARTS; part += 1) {
				const { bytes } = await read(served, startOf(part), startOf(part + 1));
				if (bytes < content.length * 0.9) throw new Error(`Only ${bytes} bytes came`);
			}
			sent.push(performance.now() - began);
			began = performance.now();
			for (const path of files) await readFile(join(folder, path));
			fromDisk.push(performance.now() - began);
		}
		const cpuMs = (served.cpuMs() - cpuBefore) / ROUNDS;
		await served.close();
		const megabytes = (PARTS * content.length) / 1e6;
		const fast = (ms: number[]) =>
			figureOf(spreadOf(ms.map((each) => (megabytes / each) * 1000)), 0);
		const p95 = quantile(again, 0.95);
		return [
			{
				what: 'audio: the first bytes of ten seconds',
				figure: `${p95.toFixed(1)} ms; where the file was never read before ${quantile(first, 0.95).toFixed(0)} ms`,
				from: '95th percentile of 100; of 12 files of two hours',
				goal: 'at most 50 ms',
				holds: p95 <= 50,
			},
			{
				what: `audio: ${CONCURRENT_CUTS} first cuts of a file at once`,
				figure: `${(cpuOfMany / 1000).toFixed(1)} s of CPU; one ${(cpuOfOne / 1000).toFixed(1)} s`,
				from: 'ten seconds each, of a file of two hours',
				goal: 'at most 1 s of CPU',
				holds: cpuOfMany <= 1000,
			},
			{
				what: `audio: a day in ${PARTS} parts`,
				figure: `${fast(sent)} MB/s; the files alone, out of memory, ${fast(fromDisk)} MB/s`,
				from: `${megabytes.toFixed(0)} MB, ${ROUNDS} times; ${figureOf(ratioOf(sent, fromDisk), 0)} times as long`,
				goal: `at least ${DISK} MB/s, a disk's speed`,
				holds: (megabytes / Math.max(...sent)) * 1000 >= DISK,
				reason: `to cut and to send them takes ${(cpuMs / megabytes).toFixed(1)} ms of CPU a megabyte`,
			},
		];
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
