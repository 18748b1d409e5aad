import type {
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IPollFunctions,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { testLifelogApi } from '../shared/transport/credentialTest';
import { getTimezones } from '../shared/parameters/listSearch';
import { subtitleOf } from '../shared/execution/operations';
import { eventParameter, properties } from './parameters';
import { runPoll } from './poll';
import { sample } from './sample';

export class LifelogTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Trigger',
		name: 'lifelogTrigger',
		icon: { light: 'file:../../icons/lifelog.svg', dark: 'file:../../icons/lifelog.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: subtitleOf(eventParameter.options, 'event'),
		description:
			'Starts a workflow when a lifelog is new or has changed, or a scheduled prompt was answered',
		defaults: { name: 'Lifelog Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		properties,
	};

	methods = { credentialTest: { testLifelogApi }, loadOptions: { getTimezones } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return this.getMode() === 'manual' ? await sample(this) : await runPoll(this);
	}
}
