// Measures what agents are given, and writes it into docs/developer/agents.md and agents.csv: npm run bench:agents
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { startLife } from './agents/life.mts';
import { measureOperations } from './agents/operations.mts';
import { questionsOf, tableOf } from './agents/tables.mts';
import { lookUp, QUESTIONS } from './agents/questions.mts';
import { withBlock } from './block.mts';
import { csvOf } from './results.mts';

const PAGE = join('docs', 'developer', 'agents.md');
const QUESTIONS_FILE = join('docs', 'developer', 'agents.csv');

const life = await startLife();
try {
	const answered = [];
	for (const question of QUESTIONS) answered.push(await lookUp(life, question));
	const written = tableOf(await measureOperations(life));
	const questions = csvOf(questionsOf(answered));
	await writeFile(QUESTIONS_FILE, questions);
	const page = withBlock(await readFile(PAGE, 'utf8'), written, 'npm run bench:agents');
	const config = await prettier.resolveConfig(PAGE);
	await writeFile(PAGE, await prettier.format(page, { ...config, filepath: PAGE }));
	console.log(`${written}\n\n${questions}`);
	const lost = answered.filter(({ isFound }) => !isFound);
	if (lost.length > 0) process.exitCode = 1;
} finally {
	await life.close();
}
