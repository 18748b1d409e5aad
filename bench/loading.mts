import { figureOf, type Row, seconds, spreadOf } from './figures.mts';
import { sample, times } from './processes.mts';

/** How long it takes to load the nodes, with what n8n has loaded anyway and without. */
export async function loading(): Promise<Row[]> {
	const runs = await times(9, () => sample('load', {}));
	const ratio = spreadOf(runs.map(({ baseMs, nodesMs }) => (baseMs + nodesMs) / baseMs));
	const [base, nodes] = (['baseMs', 'nodesMs'] as const).map((name) =>
		seconds(spreadOf(runs.map((run) => run[name])).median),
	);
	return [
		{
			what: 'Loading the nodes, against n8n-workflow and luxon alone',
			figure: figureOf(ratio),
			from: `n8n-workflow and luxon ${base}, the nodes ${nodes} more`,
			goal: 'below 1.50',
			holds: ratio.median < 1.5,
		},
	];
}
