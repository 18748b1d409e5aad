import { readFileSync } from 'node:fs';
import { blockOf } from '../../bench/block.mts';

test('docs/developer/performance.md shows what `npm run bench` wrote', () => {
	const [shown, results] = ['docs/developer/performance.md', 'bench/results.md'].map((file) =>
		blockOf(readFileSync(file, 'utf8')),
	);
	expect(shown).toMatch(/^Measured with `npm run bench` on \d+ \w+ \d{4}/);
	expect(shown).toBe(results);
});
