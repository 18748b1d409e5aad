import { createHash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Api } from '../auth/connection';
import { hint } from '../errors/hints';

/** Counts the input items for which a node only did again what it did for an earlier one. */
export class RepeatedItems {
	private readonly seen = new Set<string>();

	private repeated = 0;

	add(context: IExecuteFunctions, itemIndex: number): void {
		const parameters = parametersOf(context, itemIndex);
		if (parameters === undefined) return;
		if (this.seen.has(parameters)) this.repeated++;
		this.seen.add(parameters);
	}

	/** After a list of 50 items, a node that downloads a day would download it 50 times. */
	showHint(api: Api, items: number): void {
		if (this.repeated === 0) return;
		hint(
			api,
			`${this.repeated} of ${items} input items had the same parameters as an earlier one, so the node did the same again. To run it once, turn on Settings → Execute Once.`,
			'warning',
		);
	}
}

/** A hash of the values; undefined if an expression fails, or returns what JSON can't write. */
function parametersOf(context: IExecuteFunctions, itemIndex: number): string | undefined {
	const names = Object.keys(context.getNode().parameters);
	try {
		const values = names.map((name) => context.getNodeParameter(name, itemIndex, null) as unknown);
		return createHash('sha256').update(JSON.stringify(values)).digest('hex');
	} catch {
		return undefined;
	}
}
