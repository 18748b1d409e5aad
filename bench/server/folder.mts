// An archive of three years to measure on, written as docs/reference/archive.md has it.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifelog } from '../../lifelog/api.ts';
import { nameOfDay, type DayManifest } from '../../server/archive/layout.mts';
import { DAY_MS, lifelogsOf } from './life.mts';

const FIRST_DAY_MS = Date.parse('2023-04-01T00:00:00Z');
const DAYS = 1096;

const hashOf = (content: string) => createHash('sha256').update(content).digest('hex');

/** The days of three years, with `count` lifelogs spread evenly over them. */
function* eachDay(count: number): Generator<{ dayMs: number; lifelogs: Lifelog[] }> {
	for (let day = 0; day < DAYS; day += 1) {
		const ofDay = Math.floor((count * (day + 1)) / DAYS) - Math.floor((count * day) / DAYS);
		const dayMs = FIRST_DAY_MS + day * DAY_MS;
		yield { dayMs, lifelogs: lifelogsOf(day, ofDay, dayMs) };
	}
}

/** Writes an archive of `count` lifelogs into a folder; returns the bytes of their JSON. */
export function writeLife(folder: string, count: number): number {
	let bytes = 0;
	const store = (path: string, content: string) => {
		writeFileSync(join(folder, path), content);
		return { path, bytes: Buffer.byteLength(content), sha256: hashOf(content) };
	};
	mkdirSync(join(folder, 'days'), { recursive: true });
	for (const { dayMs, lifelogs } of eachDay(count)) {
		const date = new Date(dayMs).toISOString().slice(0, 10);
		const named: DayManifest['lifelogs'] = {};
		const inner = `lifelogs/${date.replaceAll('-', '/')}`;
		mkdirSync(join(folder, inner), { recursive: true });
		for (const lifelog of lifelogs) {
			const { id, startTime, updatedAt, isStarred } = lifelog;
			const [hours, minutes, seconds] = startTime.slice(11, 19).split(':');
			const path = `${inner}/${date}_${hours}h${minutes}m${seconds}s_${id}`;
			const json = store(`${path}.json`, JSON.stringify(lifelog));
			bytes += json.bytes;
			const files = [json, store(`${path}.md`, `${lifelog.markdown}\n`)];
			named[id] = { updatedAt, isStarred, files };
		}
		const archivedAt = new Date(dayMs + 2 * DAY_MS).toISOString();
		const dayManifest = {
			...{ version: 1 as const, day: date, lifelogs: named, chats: {}, audio: [] },
			...{ missingAudio: [], failed: [], archivedAt, isComplete: true },
		};
		store(`days/${nameOfDay(dayManifest)}`, JSON.stringify(dayManifest));
	}
	return bytes;
}
