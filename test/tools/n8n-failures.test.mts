import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { type Failure, keepFailures } from '../n8n/failures.mts';

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

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'lifelog-failures-'))));
afterAll(async () => await rm(folder, { recursive: true }));

test('each failure is reported once, with its groups, the first lines of its error and its place', async () => {
	const file = join(folder, 'suites', 'some.mjs');
	await mkdir(join(folder, 'suites'));
	await writeFile(file, SUITE);
	const failures: Failure[] = [];
	for await (const event of keepFailures(run({ files: [file] }), failures)) void event;
	expect(failures.map(({ test: name }) => name)).toEqual([
		'a group > in a group > compares',
		'a group > has a cause',
		'a group > throws what n8n tells of an error',
		'a group that does not end well',
	]);
	const [compares, cause, object, group] = failures.map(({ message }) => message.split('\n'));
	expect(compares).toHaveLength(13);
	expect(compares[0]).toBe('Expected values to be strictly deep-equal:');
	expect(compares[12]).toMatch(/^at .*some\.mjs:7:/);
	expect(cause.slice(0, 2)).toEqual(['fetch failed', 'Cause: read ECONNRESET']);
	expect(object[0]).toContain('No lifelog was found');
	expect(group[0]).toBe('It does not stop');
});

test("a file that can't run is a failure", async () => {
	const file = join(folder, 'broken.mjs');
	await writeFile(file, 'process.exit(3);');
	const failures: Failure[] = [];
	for await (const event of keepFailures(run({ files: [file] }), failures)) void event;
	expect(failures).toHaveLength(1);
	expect(failures[0].test).toContain('broken.mjs');
	expect(failures[0].message).not.toBe('');
});
