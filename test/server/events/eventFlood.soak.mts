// Many lifelogs at once, and a slow receiver: as much memory as without one, and the API answers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer, type StartingServer } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { ask, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { register, startReceiver } from './receiver.mts';

const LIFELOGS = 10_000;
const SLOW_MS = 500;
const MAX_MORE_MIB = 50;

/** The most memory that a process had so far, in MiB; undefined where nobody says. */
function peakOf({ child }: StartingServer): number | undefined {
	try {
		const status = readFileSync(join('/proc', String(child.pid), 'status'), 'utf8');
		return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)![1]) / 1024;
	} catch {
		return undefined;
	}
}

/** How long a list takes, in ms. */
async function timed(server: SpawnedServer): Promise<number> {
	const begun = performance.now();
	await (await ask(server, '/v1/lifelogs?limit=10')).text();
	return performance.now() - begun;
}

/** Reads the events of a server until there is one for each lifelog. */
async function countEvents(server: SpawnedServer): Promise<{ events: number; lifelogs: number }> {
	const lifelogs = new Set<string>();
	let [events, after] = [0, 0];
	await until(async () => {
		const response = await ask(server, `/v1/events?limit=1000&after=${after}`);
		const { data, meta } = await response.json();
		after = meta.events.after;
		events += meta.events.count;
		for (const { data: subject, type } of data.events) {
			expect(type).toBe('lifelog.created');
			lifelogs.add(subject.id);
		}
		return lifelogs.size === LIFELOGS;
	}, 100);
	return { events, lifelogs: lifelogs.size };
}

const percentile95 = (times: number[]) =>
	times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];

test(`${LIFELOGS} lifelogs of the last days are told to a slow receiver, and nobody else notices`, async () => {
	const receiver = await startReceiver();
	receiver.answer = (_received, response) => {
		void sleep(SLOW_MS).then(() => response.writeHead(204).end());
	};
	// Two servers side by side: what slows the machine down slows both.
	const folders = [temporaryFolder(), temporaryFolder()];
	const processes = folders.map((folder) => spawnLifelogServer(folder));
	const [told, alone] = await Promise.all(processes.map(({ ready }) => ready));
	await register(told, receiver);
	const now = Date.now();
	const lifelogs = Array.from({ length: LIFELOGS }, (_, n) => {
		const ageMs = (n / LIFELOGS) * 6.9 * 86_400_000;
		return lifelogOf(`n${n}`, new Date(now - ageMs).toISOString());
	});
	const times: { told: number[]; alone: number[] } = { told: [], alone: [] };
	let isOver = false;
	const asking = (async () => {
		while (!isOver) {
			const [first, second] = await Promise.all([timed(told), timed(alone)]);
			times.told.push(first);
			times.alone.push(second);
			await sleep(10);
		}
	})();
	for (const folder of folders) await writeArchive(folder, { lifelogs });
	// Asked of both, so that this slows both down.
	const counts = await Promise.all([told, alone].map(countEvents));
	expect(counts).toEqual(Array(2).fill({ events: LIFELOGS, lifelogs: LIFELOGS }));
	await until(() => receiver.received.length > 50);
	isOver = true;
	await asking;
	const [more, less] = [percentile95(times.told), percentile95(times.alone)];
	const peaks = processes.map(peakOf);
	// The time is only told: it depends on what else runs.
	process.stdout.write(
		`event flood: ${LIFELOGS} events; 95th percentile ${more.toFixed(1)} ms of ${times.told.length}, ${less.toFixed(1)} ms without a receiver (${(more / less).toFixed(2)}); peak ${peaks.map((each) => each?.toFixed()).join(' and ')} MiB\n`,
	);
	if (peaks[0] !== undefined) expect(peaks[0] - peaks[1]!).toBeLessThan(MAX_MORE_MIB);
	for (const { child, exited } of processes) {
		child.kill('SIGKILL');
		await exited;
	}
	await receiver.close();
});
