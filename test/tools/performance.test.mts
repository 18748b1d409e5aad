import { intervalOf } from '../../bench/figures.mts';

test('an interval leaves out five of twenty ratios on each side', () => {
	const ratios = Array.from({ length: 20 }, (_, nth) => (nth * 7) % 20);
	const ones = ratios.map(() => 1);
	expect(intervalOf(ratios, ones)).toEqual({ median: 9.5, low: 5, high: 14 });
	expect(intervalOf(ratios.slice(0, 6), ones)).toMatchObject({ low: 0, high: 15 });
	expect(() => intervalOf(ratios.slice(0, 5), ones)).toThrow('too few');
});
