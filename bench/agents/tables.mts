import { count } from '../figures.mts';
import type { Row } from './operations.mts';
import type { Answered } from './questions.mts';

/** The table of docs/developer/agents.md. The same life gives the same figures, so it has no date. */
export function tableOf(rows: Row[]): string {
	return `| Characters given to the model | Sandbox, raw | Sandbox, as a tool | 20 KB each, raw | 20 KB each, as a tool |
| --- | ---: | ---: | ---: | ---: |
${rows.map(({ what, before, after }) => `| ${what} | ${[before[0], after[0], before[1], after[1]].map(count).join(' | ')} |`).join('\n')}`;
}

/** The lines of docs/developer/agents.csv. */
export const questionsOf = (answered: Answered[]): string[][] => [
	['Question', 'Look-ups', 'Characters', 'Answered'],
	...answered.map(({ question, tools, characters, isFound }) => [
		...[question, tools.join(', '), count(characters), isFound ? 'yes' : 'no'],
	]),
];
