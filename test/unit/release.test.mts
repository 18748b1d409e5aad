import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Job {
	permissions?: Record<string, string>;
	steps: Array<{ uses?: string; run?: string }>;
}
interface Workflow {
	on: Record<string, unknown>;
	permissions: Record<string, string>;
	jobs: Record<string, Job>;
}

const read = (name: string) =>
	parse(readFileSync(`.github/workflows/${name}.yml`, 'utf8')) as Workflow;

test('publishing is by tag alone, checked first, with provenance and without a stored token', () => {
	const { on, permissions, jobs } = read('publish');
	expect(Object.keys(on)).toEqual(['push']);
	expect(Object.keys(on.push as object)).toEqual(['tags']);
	expect(permissions).toEqual({ contents: 'read' });
	const [[, job], ...others] = Object.entries(jobs);
	expect(others).toEqual([]);
	expect(job.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
	const runs = job.steps.flatMap(({ run }) => run ?? []);
	expect(runs.at(-1)).toBe('npm publish --provenance --access public');
	expect(runs).toContain('.ci/run');
	expect(JSON.stringify(jobs)).not.toMatch(/secrets\.|_TOKEN/);
});

test('a change is checked as a release is, with the right to read only', () => {
	const { on, permissions, jobs } = read('ci');
	expect(Object.keys(on)).toEqual(expect.arrayContaining(['push', 'pull_request']));
	expect(permissions).toEqual({ contents: 'read' });
	expect(jobs.check.steps.flatMap(({ run }) => run ?? [])).toContain('.ci/run');
});
