import { readFileSync } from 'node:fs';
import { blockOf } from '../../bench/block.mts';

test('the README shows what `npm run bench` wrote', () => {
	const [readme, results] = ['README.md', 'bench/results.md'].map((file) =>
		blockOf(readFileSync(file, 'utf8')),
	);
	expect(readme).toMatch(/^Measured with `npm run bench` on \d+ \w+ \d{4}/);
	expect(readme).toBe(results);
});
