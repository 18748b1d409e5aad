// An archive of three years to measure on, written as docs/archive.md has it.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifelog } from '../../nodes/shared/api-types.ts';
import { DAY_MS, lifelogsOf } from './life.mts';

const FIRST_DAY_MS = Date.parse('2023-04-01T00:00:00Z');
const DAYS = 1096;

const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** The days of three years, with `count` lifelogs spread evenly over them. */
export function* eachDay(count: number): Generator<{ dayMs: number; lifelogs: Lifelog[] }> {
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
		const lines: string[] = [];
		const named: Record<string, object> = {};
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
			lines.push(`lifelog ${id} ${updatedAt} ${isStarred}`);
		}
		const said = { version: 1, day: date, lifelogs: named, chats: {}, audio: [], missingAudio: [] };
		const archivedAt = new Date(dayMs + 2 * DAY_MS).toISOString();
		const version = hashOf(lines.sort().join('\n')).slice(0, 16);
		store(
			`days/${date}_${version}.json`,
			JSON.stringify({ ...said, failed: [], archivedAt, isComplete: true }),
		);
	}
	return bytes;
}
