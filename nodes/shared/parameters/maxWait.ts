import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readCollection, readNumber } from './read';

export const maxWaitOption: INodeProperties = {
	displayName: 'Max Rate Limit Wait (Seconds)',
	name: 'maxWait',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 300,
	description: 'Maximum time one request may wait for the rate limit. A longer wait fails at once.',
};

/** @returns The {@link maxWaitOption} in ms, which single requests have by default, too. */
export function readMaxWaitMs(context: IExecuteFunctions, itemIndex: number): number {
	return 1000 * readNumber(context, maxWaitOption, readCollection(context, 'options', itemIndex));
}
