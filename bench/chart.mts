import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { spreadOf } from './figures.mts';
import type { Point } from './lists.mts';
import { WAYS } from './ways.mts';

/** Draws time against number of lifelogs, one panel for each latency. Returns SVG. */
export async function drawChart(points: Point[]): Promise<string> {
	const values = points.map(({ way, lifelogs, latencyMs, ms }) => {
		const { median, low, high } = spreadOf(ms.map((each) => each / 1000));
		const panel = latencyMs > 0 ? `TLS and ${latencyMs} ms` : 'near by';
		return { way, lifelogs, panel, median, low, high };
	});
	const spec: TopLevelSpec = {
		background: 'white',
		padding: 12,
		data: { values },
		facet: {
			column: {
				field: 'panel',
				type: 'nominal',
				sort: ['near by'],
				title: null,
				header: { labelFontSize: 13 },
			},
		},
		resolve: { scale: { y: 'independent' } },
		spec: {
			width: 300,
			height: 240,
			encoding: {
				x: {
					field: 'lifelogs',
					type: 'quantitative',
					title: 'Lifelogs of 4 KB',
					axis: {
						values: [1000, 2500, 5500, 10_000],
						format: ',d',
						labelOverlap: false,
						labelFlush: false,
					},
				},
				color: {
					field: 'way',
					type: 'nominal',
					sort: [...WAYS],
					title: null,
					legend: { orient: 'bottom' },
				},
			},
			layer: [
				{
					mark: { type: 'line', point: true },
					encoding: { y: { field: 'median', type: 'quantitative', title: 'Seconds' } },
				},
				{
					mark: { type: 'rule', opacity: 0.5 },
					encoding: { y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } },
				},
			],
		},
	};
	const view = new vega.View(vega.parse(compile(spec).spec), { renderer: 'none' });
	return await view.toSVG();
}
