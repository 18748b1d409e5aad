import { type ArchivedAudio, writeArchive } from '../../support/archive.mts';
import { seededRandom } from '../../support/seededRandom.mts';
import { seedOr, size } from '../../support/size.mts';
import { temporaryFolder } from '../sources.mts';
import { examine, type Heard, noon, open, read, recording } from './audioRanges.mts';

const RANGES = size(50, 200);
const SEED = seedOr(20261121);
const packetMs = 20;

test(`${RANGES} ranges over gaps, overlaps and chains: one stream of the right length, with every packet once and at its time`, async () => {
	const random = seededRandom(SEED);
	const lengths = (count: number) =>
		Array.from({ length: count }, () => 500 + Math.floor(random() * 9_000));
	const audio: ArchivedAudio[] = [];
	const heard: (Heard & { file: number })[] = [];
	let startMs = noon;
	for (const [count, pauseMs] of [
		[1, 0],
		[3, 7_321],
		[8, 0],
		[2, -4_000],
		[1, 1],
		[5, -1],
		[1, 0],
	]) {
		startMs += pauseMs;
		const made = recording(startMs, lengths(count), random, 1 + heard.length);
		audio.push({ startMs, endMs: made.endMs, content: made.content });
		heard.push(...made.heard.map((packet) => ({ ...packet, file: audio.length - 1 })));
		startMs = made.endMs;
	}
	const folder = temporaryFolder();
	await writeArchive(folder, { audio });
	const { store, log } = await open(folder);
	// What several files have is heard from the one that began first.
	let reachedMs = 0;
	const once = audio.map(({ startMs: from, endMs: to }) => {
		const span = [Math.max(from, reachedMs), to] as const;
		reachedMs = Math.max(reachedMs, to);
		return span;
	});
	const lastMs = startMs + 5_000;
	for (let n = 0; n < RANGES; n += 1) {
		const from = noon - 2_000 + Math.floor(random() * (lastMs - noon));
		const to = from + 1 + Math.floor(random() ** 3 * (lastMs - from));
		const expectedMs = once.reduce(
			(sum, span) => sum + Math.max(0, Math.min(span[1], to) - Math.max(span[0], from)),
			0,
		);
		const found = await store.getAudio(from, to);
		if (expectedMs === 0) {
			expect(found).toBeUndefined();
			continue;
		}
		const file = await read(store, from, to);
		expect(file).toHaveLength(found!.bytes);
		const [{ numbers, preSkipMs, playedMs }, ...others] = examine(file);
		expect(others).toEqual([]);
		expect(playedMs).toBeCloseTo(expectedMs, 3);
		// As much as a decoder needs to hear first, and no more.
		if (preSkipMs > 101) throw new Error('A player skips too much');
		expect(new Set(numbers).size).toBe(numbers.length);
		const spans = once.map(
			([fileFrom, fileTo]) => [Math.max(fileFrom, from), Math.min(fileTo, to)] as const,
		);
		const dueMs = (atMs: number, inFile: number) =>
			spans.reduce((sum, [spanFrom, spanTo], index) => {
				const [begin, end] = index === inFile ? [spanFrom, atMs] : [spanFrom, spanTo];
				return index > inFile ? sum : sum + Math.max(0, end - begin);
			}, 0);
		const places = new Map(numbers.map((number, index) => [number, index * packetMs - preSkipMs]));
		for (const packet of heard) {
			const [spanFrom, spanTo] = spans[packet.file];
			const place = places.get(packet.number);
			const isHeard = packet.fromMs > spanFrom && packet.toMs <= spanTo;
			if (place !== undefined && isHeard && packet.toMs - packet.fromMs > packetMs - 0.01) {
				const lateMs = place - dueMs(packet.fromMs, packet.file);
				if (lateMs < -0.1 || lateMs > packetMs) throw new Error(`A packet is ${lateMs} ms late`);
			}
			// Where two parts meet, a packet of each may be left out.
			const isWhole = packet.stream.every(
				(edgeMs) =>
					Math.abs(packet.fromMs - edgeMs) >= packetMs &&
					Math.abs(packet.toMs - edgeMs) >= packetMs,
			);
			const isInside = packet.fromMs >= spanFrom + packetMs && packet.toMs <= spanTo - packetMs;
			if (isInside && isWhole && place === undefined) throw new Error('A packet is missing');
		}
	}
	expect(log).toEqual([]);
});
