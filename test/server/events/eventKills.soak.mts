// lifelog-server, killed at random moments while lifelogs change, with a receiver that fails half the
// time: each event arrives, once for those who remember IDs, and in order.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { en, Faker } from '@faker-js/faker';
import type { Lifelog } from '../../../lifelog/api.ts';
import { isAmidChange } from '../../support/amidChange.mts';
import { spawnLifelogServer, type SpawnedServer } from '../../support/lifelogServer.mts';
import { KILLS, randomSeed } from '../../support/size.mts';
import { until } from '../../support/soon.mts';
import { ask, temporaryFolder } from '../sources.mts';
import {
	listed,
	register,
	send,
	startReceiver,
	type Received,
	type Receiver,
} from './receiver.mts';

const CHANGES = 2_000;
/** Changes sent at the same time. */
const AT_ONCE = 4;
const MAX_DELAY_MS = 20;
const seed = randomSeed();
const random = new Faker({ locale: en, seed });
// So many attempts that not all of a delivery fail by chance.
const args = [
	'--allow-changes',
	'--allow-delete',
	'--webhook-pauses',
	Array(40).fill('0.1').join(),
];

const folder = temporaryFolder();
let receiver: Receiver;
/** What each lifelog was answered to be last, by its ID; undefined once it was deleted. */
const ids = new Set<string>();
const gone = new Set<string>();
let created = 0;

beforeAll(async () => {
	receiver = await startReceiver();
	receiver.answer = (_received, response) => {
		const fate = random.number.float();
		if (fate < 0.5) return 204;
		if (fate < 0.7) return 500;
		// Received, but the answer is lost.
		response.destroy();
	};
});
afterAll(() => receiver.close());

/** Makes, changes or deletes a lifelog; the server may be killed meanwhile. */
async function change(server: SpawnedServer): Promise<void> {
	const known = [...ids].filter((id) => !gone.has(id));
	const fate = random.number.float();
	if (known.length < 5 || fate < 0.35) {
		created += 1;
		const response = await send(server, 'POST', '/v1/lifelogs', {
			transcript: [{ text: `Number ${created}.`, speaker: 'S', start: 0, end: 1 }],
			startTime: Date.UTC(2026, 2, 1 + (created % 9), 8, created % 60),
			externalId: `number ${created}`,
		});
		ids.add((await response.json()).data.lifelog.id);
	} else if (fate < 0.8) {
		const path = `/v1/lifelogs/${random.helpers.arrayElement(known)}`;
		await send(server, 'PATCH', path, { title: `Title ${random.number.int(1000)}` });
	} else {
		const id = random.helpers.arrayElement(known);
		const { status } = await ask(server, `/v1/lifelogs/${id}`, { method: 'DELETE' });
		if (status === 200 || status === 404) gone.add(id);
	}
}

/** Starts a server, has lifelogs be changed, and kills it. Returns whether it was amid a change. */
async function killAfter(changes: number): Promise<boolean> {
	const { child, exited, ready } = spawnLifelogServer(folder, args);
	const server = await ready;
	let [done, isOver] = [0, false];
	const changing = Array.from({ length: AT_ONCE }, async () => {
		while (!isOver) {
			await change(server).catch(() => sleep(1));
			done += 1;
		}
	});
	await until(() => done >= changes, 1);
	while (!isAmidChange(folder)) await nextTurn();
	if (random.number.float() < 0.3) await sleep(random.number.float() * MAX_DELAY_MS);
	const wasAmid = isAmidChange(folder);
	child.kill('SIGKILL');
	isOver = true;
	await exited;
	await Promise.all(changing);
	return wasAmid;
}

async function allLifelogs(server: SpawnedServer): Promise<Map<string, Lifelog>> {
	const found = new Map<string, Lifelog>();
	let cursor = '';
	do {
		const query = `limit=100&includeMarkdown=false&includeContents=false${cursor}`;
		const { data, meta } = await (await ask(server, `/v1/lifelogs?${query}`)).json();
		for (const lifelog of data.lifelogs as Lifelog[]) found.set(lifelog.id, lifelog);
		cursor = meta.lifelogs.nextCursor ? `&cursor=${meta.lifelogs.nextCursor}` : '';
	} while (cursor !== '');
	return found;
}

async function allEvents(server: SpawnedServer): Promise<Received[]> {
	const events: Received[] = [];
	for (let after = 0; ;) {
		const response = await ask(server, `/v1/events?limit=1000&after=${after}`);
		const { data, meta } = await response.json();
		if (data.events.length === 0) return events;
		events.push(...data.events);
		after = meta.events.after;
	}
}

/** The events of each lifelog, in order. */
function byLifelog(events: Received[]): Map<string, Received[]> {
	const groups = new Map<string, Received[]>();
	for (const event of events) {
		const { id } = event.data;
		groups.set(id, [...(groups.get(id) ?? []), event]);
	}
	return groups;
}

test(`${KILLS} kills during ${CHANGES} changes lose no event, and change no order (seed ${seed})`, async () => {
	const first = await spawnLifelogServer(folder, args).ready;
	await register(first, receiver);
	await first.close();
	let amid = 0;
	for (let kill = 0; kill < KILLS; kill += 1) {
		const changes = (CHANGES / KILLS) * (0.5 + random.number.float());
		if (await killAfter(changes)) amid += 1;
	}
	expect(amid).toBeGreaterThanOrEqual(KILLS / 2);
	const server = await spawnLifelogServer(folder, args).ready;
	await until(async () => {
		const { data } = await (await ask(server, '/v1/webhooks')).json();
		return data.webhooks[0].waiting === 0;
	}, 200);
	const [events, lifelogs] = [await allEvents(server), await allLifelogs(server)];
	expect(await listed(server)).toHaveLength(Math.min(1000, events.length));
	await server.close();
	// As a receiver keeps them that remembers IDs.
	const seen = new Map(receiver.received.map((event) => [event.id, event]));
	const firstOnes = [...seen.values()];
	expect(receiver.received.filter(({ isSigned }) => !isSigned)).toEqual([]);
	expect(events.filter(({ id }) => !seen.has(id))).toEqual([]);
	const told = byLifelog(firstOnes);
	for (const [id, ofOne] of byLifelog(events)) {
		expect([id, told.get(id)!.map((event) => event.id)]).toEqual([
			id,
			ofOne.map((event) => event.id),
		]);
	}
	for (const [id, ofOne] of told) {
		const last = ofOne.at(-1)!;
		const now = lifelogs.get(id);
		if (now) expect([id, last.data.updatedAt]).toEqual([id, now.updatedAt]);
		else expect([id, last.type]).toEqual([id, 'lifelog.deleted']);
		// No change is told by two events.
		const states = ofOne.map(({ type, data }) =>
			type.endsWith('deleted') ? type : data.updatedAt,
		);
		expect([id, new Set(states).size]).toEqual([id, states.length]);
		const creations = ofOne.filter(({ type }) => type === 'lifelog.created');
		expect([id, creations.length <= 1]).toEqual([id, true]);
	}
	for (const id of [...lifelogs.keys(), ...ids]) expect([id, told.has(id)]).toEqual([id, true]);
	process.stdout.write(
		`event kills: ${KILLS}, ${amid} of them amid a change; ${events.length} events in ${receiver.received.length} requests\n`,
	);
});
