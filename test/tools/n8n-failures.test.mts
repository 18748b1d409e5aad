import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { type Failure, keepFailures } from '../n8n/failures.mts';
import { temporaryFolder } from '../server/sources.mts';

const SUITE = `
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
test('goes well', () => {});
describe('a group', () => {
	describe('in a group', () => {
		test('compares', () => assert.deepEqual(Array.from({ length: 90 }, (_, at) => at), []));
		test('goes well', () => {});
	});
	test('has a cause', () => {
		throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
	});
	test('throws what n8n tells of an error', () => {
		throw { message: 'No lifelog was found' };
	});
});
describe('a group that does not end well', () => {
	after(() => {
		throw new Error('It does not stop');
	});
	test('goes well', () => {});
});
`;

test('each failure is reported once, with its groups, the first lines of its error and its place', async () => {
	const folder = temporaryFolder();
	await mkdir(join(folder, 'suites'));
	const files = ['some.mjs', 'broken.mjs'].map((name) => join(folder, 'suites', name));
	await writeFile(files[0], SUITE);
	await writeFile(files[1], 'process.exit(3);');
	const failures: Failure[] = [];
	const events = run({ files, concurrency: false });
	for await (const event of keepFailures(events, failures)) void event;
	expect(failures.map(({ test: name }) => name)).toEqual([
		'a group > in a group > compares',
		'a group > has a cause',
		'a group > throws what n8n tells of an error',
		'a group that does not end well',
		expect.stringContaining('broken.mjs'),
	]);
	const [compares, cause, object, group, file] = failures.map(({ message }) => message.split('\n'));
	expect(compares).toHaveLength(13);
	expect(compares[0]).toBe('Expected values to be strictly deep-equal:');
	expect(compares[12]).toMatch(/^at .*some\.mjs:7:/);
	expect(cause.slice(0, 2)).toEqual(['fetch failed', 'Cause: read ECONNRESET']);
	expect(object[0]).toContain('No lifelog was found');
	expect(group[0]).toBe('It does not stop');
	expect(file[0]).not.toBe('');
});
