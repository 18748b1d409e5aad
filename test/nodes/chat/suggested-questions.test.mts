// What the examples suggest to ask must be found by somebody who tries them with the sandbox.
import { readFileSync } from 'node:fs';
import { startSandbox } from '../../../server/sandbox/server.mts';

const noteIn = (name: string) => readFileSync(`examples/${name}.json`, 'utf8');
const [question] = /(?<=ask: \\")[^"\\]+/.exec(noteIn('ask-your-days'))!;
const [alternatives] = /(?<=OR between alternatives \(\\")[^"\\]+/.exec(noteIn('search-my-days'))!;
/** What a model makes of the question. */
const words = question.replaceAll(/\b(what|did|say|about|her)\b|\?/gi, '').trim();

test('both examples of an agent suggest the same question', () => {
	expect(noteIn('ask-your-days-mcp')).toContain(`ask: \\"${question}\\"`);
	expect(words).toMatch(/^\w+ +\w+$/);
});

test.each([
	[undefined, 31, 1],
	[undefined, 10, 1],
	['2026-12-24T06:00:00Z', 10, 2],
	['2027-03-01T12:00:00Z', 31, 3],
])('at %s, %d days of the sandbox (seed %d) answer them', async (now, days, seed) => {
	const { url, apiKey, close } = await startSandbox({ now, days, seed });
	try {
		for (const search of [words, alternatives]) {
			const query = new URLSearchParams({ search, limit: '5' });
			const response = await fetch(`${url}/v1/lifelogs?${query}`, {
				headers: { 'X-API-Key': apiKey },
			});
			const { data } = (await response.json()) as { data: { lifelogs: object[] } };
			expect([search, data.lifelogs.length]).toEqual([search, 5]);
		}
	} finally {
		await close();
	}
});
