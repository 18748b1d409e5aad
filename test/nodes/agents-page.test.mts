// The questions of docs/developer/agents.md, and that agents.csv has what the command writes.
import { readFileSync } from 'node:fs';
import { startLife } from '../../bench/agents/life.mts';
import { lookUp, MAX_CHARACTERS, QUESTIONS } from '../../bench/agents/questions.mts';
import { use } from '../support/useNode.mts';

const rows = readFileSync('docs/developer/agents.csv', 'utf8')
	.trim()
	.split('\n')
	.map((line) => JSON.parse(`[${line}]`) as string[]);

const life = use(startLife);

test('there are twenty questions', () => {
	expect(new Set(QUESTIONS.map(({ question }) => question)).size).toBe(20);
});

test.each(QUESTIONS)('$question', async (question) => {
	const { characters, isFound, tools } = await lookUp(life, question);
	expect(isFound).toBe(true);
	expect(characters).toBeLessThanOrEqual(MAX_CHARACTERS);
	const row = rows.find(([what]) => what === question.question);
	const figures = [tools.join(', '), characters.toLocaleString('en-US'), 'yes'];
	expect(row?.slice(1)).toEqual(figures);
});
