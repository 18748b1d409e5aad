// What the server cuts from recordings, examined packet by packet.
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { openStore } from '../../support/archiveStore.mts';
import { readOgg, writeOgg } from '../../support/ogg.mts';

export const noon = Date.parse('2026-03-01T12:00:00Z');
export const second = 1000;

export const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

export async function open(folder: string) {
	const log: string[] = [];
	const { store, close } = await openStore(folder, join(folder, '.lifelog-index.sqlite'), {
		onProblem: (path, reason) => log.push(`${path} ${reason}`),
	});
	closing.push(close);
	await store.refresh();
	return { store, log };
}

/** All of what a store gives for a range. */
export async function read(store: ArchiveStore, startMs: number, endMs: number): Promise<Buffer> {
	const audio = await store.getAudio(startMs, endMs);
	return audio ? buffer(Readable.from(audio.read(0, audio.bytes))) : Buffer.alloc(0);
}

/** A packet of 20 ms that can be told from every other. */
export function packetOf(number: number, length: number): Buffer {
	const packet = Buffer.alloc(length, number % 251);
	packet[0] = 0xf8;
	packet.writeUInt32LE(number, 1);
	return packet;
}
const numberOf = (packet: Buffer) => packet.readUInt32LE(1);

/** A stretch of what was recorded, and where its packets are heard. */
export interface Heard {
	number: number;
	fromMs: number;
	toMs: number;
	/** Where its stream begins and ends. */
	stream: readonly number[];
}

/**
 * A file of some streams, beginning at `startMs`: its bytes, its length, and when each of its
 * packets is heard.
 */
export function recording(
	startMs: number,
	lengthsMs: number[],
	random: () => number,
	firstNumber: number,
) {
	const heard: Heard[] = [];
	let number = firstNumber;
	let atMs = startMs;
	const streams = lengthsMs.map((lengthMs) => {
		const preSkip = [0, 312, 3840][Math.floor(random() * 3)];
		const count = Math.ceil((lengthMs * 48 + preSkip) / 960);
		const trim = count * 960 - preSkip - lengthMs * 48;
		const packets = Array.from({ length: count }, (_, index) => {
			const fromMs = atMs + Math.max(0, (index * 960 - preSkip) / 48);
			const toMs = atMs + Math.min(lengthMs, ((index + 1) * 960 - preSkip) / 48);
			heard.push({ number, fromMs, toMs, stream: [atMs, atMs + lengthMs] });
			number += 1;
			return packetOf(
				number - 1,
				random() < 0.1 ? 300 + Math.floor(random() * 900) : 5 + Math.floor(random() * 90),
			);
		});
		atMs += lengthMs;
		return writeOgg({
			serial: Math.floor(random() * 2 ** 32),
			preSkip,
			packets,
			perPage: 1 + Math.floor(random() * 50),
			origin: random() < 0.3 ? 48_000 * Math.floor(random() * 1000) : 0,
			trim,
		});
	});
	return { content: Buffer.concat(streams), endMs: atMs, heard };
}

/** What a stream of Ogg Opus has, after everything that must hold of it was looked at. */
export function examine(file: Buffer) {
	const pages = readOgg(file);
	const links: { packets: Buffer[]; preSkip: number; playedMs: number }[] = [];
	let sequence = 0;
	let granule = 0;
	const serials = new Set<number>();
	// Not by `expect`, which takes longer than everything else together.
	const must = (holds: boolean, what: string) => {
		if (!holds) throw new Error(what);
	};
	for (const page of pages) {
		must(page.isIntact, 'A checksum is wrong');
		if (page.begins) {
			must(links.length === 0 || links.at(-1)!.playedMs > 0, 'A stream has no end');
			must(!serials.has(page.serial), 'Two streams have one serial');
			serials.add(page.serial);
			links.push({ packets: [], preSkip: page.packets[0].readUInt16LE(10), playedMs: 0 });
			[sequence, granule] = [0, 0];
		}
		const link = links.at(-1)!;
		must(page.sequence === sequence, 'A page is missing');
		must(page.granule >= granule, 'A position goes back');
		sequence += 1;
		granule = page.granule;
		link.packets.push(...page.packets);
		if (page.ends) link.playedMs = (granule - link.preSkip) / 48;
		else if (sequence > 2) must(granule === (link.packets.length - 2) * 960, 'A position is wrong');
	}
	for (const { packets, playedMs } of links) {
		must(packets[0].toString('latin1', 0, 8) === 'OpusHead', 'A stream has no header');
		must(packets[1].toString('latin1', 0, 8) === 'OpusTags', 'A stream has no comments');
		must(playedMs > 0, 'A stream has no end');
	}
	return links.map(({ packets, preSkip, playedMs }) => ({
		numbers: packets.slice(2).map(numberOf),
		preSkipMs: preSkip / 48,
		playedMs,
	}));
}
