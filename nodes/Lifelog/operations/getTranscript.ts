import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import { transcriptText, utterances } from '../../shared/contents';
import { readId } from '../../shared/ids';
import { getLifelog, lifelogIdParameter } from '../../shared/lifelogs';
import {
	forOperation,
	maxWaitOption,
	readCollection,
	readZone,
	timezoneOption,
} from '../../shared/parameters';
import { hintIfContentsWithheld } from '../listing';

export const description: INodeProperties[] = forOperation('getTranscript', [
	lifelogIdParameter,
	{
		displayName: 'Output As',
		name: 'outputAs',
		type: 'options',
		options: [
			{
				name: 'Utterances',
				value: 'utterances',
				description: 'One item for each thing said, with speaker and times',
			},
			{
				name: 'Text',
				value: 'text',
				description: 'One item with the whole transcript, a line for each thing said',
			},
		],
		default: 'utterances',
		description: 'What the transcript is turned into',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			maxWaitOption,
			{
				displayName: 'Speakers',
				name: 'speakers',
				type: 'string',
				default: '',
				placeholder: 'e.g. user, Anna',
				description:
					'Comma-separated names of those whose words are wanted, in any case; user stands for the wearer. Everyone when empty.',
			},
			timezoneOption,
		],
	},
]);

/** @returns One item per utterance, or one item `{ lifelogId, title, text }`. */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const lifelog = await getLifelog(api, id, {
		timezone: readZone(this, options.timezone),
		includeMarkdown: false,
		includeHeadings: true,
		includeContents: true,
	});
	hintIfContentsWithheld(this, [lifelog]);
	const speakers = String(options.speakers ?? '')
		.split(',')
		.map((speaker) => speaker.trim())
		.filter(Boolean);
	const spoken = utterances(lifelog, speakers);
	if (this.getNodeParameter('outputAs', itemIndex) === 'text') {
		return [
			{ json: { lifelogId: lifelog.id, title: lifelog.title, text: transcriptText(spoken) } },
		];
	}
	return spoken.map((utterance) => ({ json: { ...utterance } }));
}
