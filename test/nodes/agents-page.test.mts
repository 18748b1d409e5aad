// The question set of docs/developer/agents.md, and that the page shows what the command writes.
import { readFileSync } from 'node:fs';
import { startLife } from '../../bench/agents/life.mts';
import { lookUp, MAX_CHARACTERS, QUESTIONS } from '../../bench/agents/questions.mts';
import { blockOf } from '../../bench/block.mts';
import { use } from '../support/useNode.mts';

const page = blockOf(readFileSync('docs/developer/agents.md', 'utf8'), 'npm run bench:agents');
const rows = page
	.split('\n')
	.map((line) => line.split('|').map((cell) => cell.trim()))
	.filter(([, what]) => what !== undefined);

const life = use(startLife);

test('there are twenty questions', () => {
	expect(new Set(QUESTIONS.map(({ question }) => question)).size).toBe(20);
});

test.each(QUESTIONS)('$question', async (question) => {
	const { characters, isFound, tools } = await lookUp(life, question);
	expect(isFound).toBe(true);
	expect(characters).toBeLessThanOrEqual(MAX_CHARACTERS);
	const row = rows.find(([, what]) => what === question.question);
	const figures = [tools.join(', '), characters.toLocaleString('en-US'), 'yes'];
	expect(row?.slice(2, 5)).toEqual(figures);
});
