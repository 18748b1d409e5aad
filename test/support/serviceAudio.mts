import type { Lifelog } from '../../lifelog/api.ts';
import { heardPackets } from './heard.mts';

/** A range of audio as Full archive asks for it. */
const FILE_MS = 7_200_000;

/** What a service gave of its audio, and what must be heard of any part of it. */
export interface ServiceAudio {
	/** The two hours from an instant on, epoch ms; undefined where there is no audio. */
	fileFrom: (startMs: number) => Promise<Buffer | undefined>;
	/** How much of a range was recorded, in ms: what is said at the same time counts once. */
	recordedMs: (startMs: number, endMs: number) => number;
	/** The packets of each of the service's files of two hours in which a range is heard. */
	packetsOf: (startMs: number, endMs: number) => Promise<string[][]>;
}

/** Reads the audio of a sandbox that has these lifelogs, by start, as it is when it is first asked for. */
export function audioOf(
	{ url, apiKey }: { url: string; apiKey: string },
	lifelogs: Lifelog[],
): ServiceAudio {
	const files = new Map<number, Promise<Buffer | undefined>>();
	const fetched = async (startMs: number) => {
		const range = `startMs=${startMs}&endMs=${startMs + FILE_MS}`;
		const headers = { 'x-api-key': apiKey };
		const response = await fetch(`${url}/v1/download-audio?${range}`, { headers });
		const body = Buffer.from(await response.arrayBuffer());
		return response.ok ? body : undefined;
	};
	const fileFrom = async (startMs: number) => {
		if (!files.has(startMs)) files.set(startMs, fetched(startMs));
		return await files.get(startMs);
	};
	const recordedMs = (startMs: number, endMs: number) => {
		let reached = startMs;
		let total = 0;
		for (const lifelog of lifelogs) {
			const from = Math.max(reached, Date.parse(lifelog.startTime));
			const to = Math.min(endMs, Date.parse(lifelog.endTime));
			if (to <= from) continue;
			total += to - from;
			reached = to;
		}
		return total;
	};
	const packetsOf = async (startMs: number, endMs: number) => {
		const packets: string[][] = [];
		for (let at = startMs - (startMs % FILE_MS); at < endMs; at += FILE_MS) {
			const file = await fileFrom(at);
			const [from, to] = [Math.max(at, startMs), Math.min(at + FILE_MS, endMs)];
			const before = recordedMs(at, from);
			if (file) packets.push(heardPackets(file, before, before + recordedMs(from, to)));
		}
		return packets;
	};
	return { fileFrom, recordedMs, packetsOf };
}
