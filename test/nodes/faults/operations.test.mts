import { readFileSync } from 'node:fs';
import { OPERATIONS } from './operations.mts';
import { editorLists, nodeOperations } from './parameters.mts';
import { OPEN, REPORT, tableIn } from './render.mts';

// That nothing the nodes offer is left out of the matrix.

const offered = [
	...nodeOperations().map(({ node, operation }) => `${node}.${operation}`),
	...editorLists().map(({ node, methodName }) => `${node}.${methodName}`),
];
const covered = new Set(OPERATIONS.map(({ name }) => name.split(':')[0]));

test.each(offered)('%s is tested with every fault', (name) => {
	if (covered.has(name)) return;
	throw new Error(
		`Add a row for ${name} to OPERATIONS in test/nodes/faults/operations.mts (what it gives when nothing goes wrong), then: npm run reliability -- ${name}`,
	);
});

test('only operations of the nodes are tested', () => {
	expect([...covered].filter((name) => !offered.includes(name))).toEqual([]);
});

describe('the table in docs/developer/reliability.csv (npm run reliability)', () => {
	const told = tableIn(readFileSync(REPORT, 'utf8'));

	test('has all operations', () => {
		expect([...told.keys()]).toEqual(OPERATIONS.map(({ title }) => title));
	});

	test('has no open cell', () => {
		const open = [...told].filter(([, row]) => [...row.values()].includes(OPEN));
		if (open.length === 0) return;
		const titles = open.map(([title]) => title).join(', ');
		throw new Error(
			`Columns of ${titles} are open: they wait for time-outs, which takes minutes. Run: npm run reliability`,
		);
	});

	test('uses only terms that its page explains', () => {
		const page = readFileSync('docs/developer/reliability.md', 'utf8');
		const explained = [...page.matchAll(/^\| (\S+(?: \S+)?) +\| /gm)].map(([, word]) => word);
		const words = [...told.values()].flatMap((row) => [...row.values()]);
		const used = new Set(words.flatMap((cell) => cell.split(' / ')));
		expect([...used].filter((word) => !explained.includes(word))).toEqual([]);
	});
});
