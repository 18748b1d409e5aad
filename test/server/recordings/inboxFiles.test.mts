import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putAway } from '../../../server/recordings/inboxFiles.mts';
import { temporaryFolder } from '../sources.mts';

/** A recording whose file is in an inbox. */
function failed(inbox: string, name: string, content: string) {
	const path = join(inbox, name);
	writeFileSync(path, content);
	return {
		...{ inbox, path, fileName: 'memo.m4a', status: 'failed' as const, error: 'It is broken' },
		...{ startTime: null, createdAt: '2026-03-01T09:04:12.000Z' },
		sha256: createHash('sha256').update(content).digest('hex'),
	};
}

test('a server that was killed after it moved a failed file still writes the reason', async () => {
	const inbox = temporaryFolder();
	mkdirSync(join(inbox, 'failed'));
	writeFileSync(join(inbox, 'failed/memo.m4a'), 'another one');
	const recording = failed(inbox, 'memo.m4a', 'broken');
	const moved = await putAway(recording, 'UTC');
	expect(moved).toBe(join(inbox, 'failed/memo-2.m4a'));
	rmSync(`${moved}.txt`);
	expect(await putAway(recording, 'UTC')).toBe(moved);
	expect(readFileSync(`${moved}.txt`, 'utf8')).toContain('It is broken');
	expect(readdirSync(join(inbox, 'failed'))).toHaveLength(3);
});

test('a finished file removes only its own reason file', async () => {
	const inbox = temporaryFolder();
	const first = await putAway(failed(inbox, 'memo.m4a', 'broken'), 'UTC');
	const second = { ...failed(inbox, 'memo.m4a', 'fine'), status: 'done' as const };
	expect(await putAway(second, 'UTC')).toBe(join(inbox, 'done/2026/03/memo.m4a'));
	expect(existsSync(`${first}.txt`)).toBe(true);
	const again = { ...failed(inbox, 'failed/memo.m4a', 'broken'), status: 'done' as const };
	expect(await putAway(again, 'UTC')).toBe(join(inbox, 'done/2026/03/memo-2.m4a'));
	expect(readdirSync(join(inbox, 'failed'))).toEqual([]);
});
