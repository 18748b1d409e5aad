import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { transcriptText, utterances } from '../../shared/contents';
import { hint } from '../../shared/hints';
import { readId } from '../../shared/ids';
import { getLifelog, lifelogIdParameter } from '../../shared/lifelogs';
import {
	forOperation,
	maxWaitOption,
	readChoice,
	readCollection,
	readZone,
	timezoneOption,
} from '../../shared/parameters';

const OUTPUTS = ['utterances', 'text'] as const;

export const description: INodeProperties[] = forOperation('getTranscript', [
	{ ...lifelogIdParameter, description: 'The lifelog whose transcript to get' },
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

/**
 * Reads what was said in a lifelog (specification, sections 2.2 and 4.3).
 *
 * @returns One item per utterance, or one item `{ lifelogId, title, text }`.
 * @throws NodeApiError when there is no lifelog with this ID.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const outputAs = readChoice(
		this,
		this.getNodeParameter('outputAs', itemIndex),
		OUTPUTS,
		'Output As',
	);
	const lifelog = await getLifelog(api, id, {
		timezone: readZone(this, options.timezone),
		includeMarkdown: false,
		includeHeadings: true,
		includeContents: true,
	});
	const speakers = String(options.speakers ?? '')
		.split(',')
		.map((speaker) => speaker.trim())
		.filter(Boolean);
	const spoken = utterances(lifelog, speakers);
	if (spoken.length === 0) hintWhy(api, lifelog, speakers);
	if (outputAs === 'text') {
		return [
			{ json: { lifelogId: lifelog.id, title: lifelog.title, text: transcriptText(spoken) } },
		];
	}
	return spoken.map((utterance) => ({ json: { ...utterance } }));
}

/** Says why there is nothing. */
function hintWhy(api: Api, lifelog: Lifelog, wanted: string[]): void {
	const heard = [...new Set(utterances(lifelog).map(({ speaker }) => speaker))];
	if (heard.length > 0) {
		hint(api, `None of ${wanted.join(', ')} spoke in this lifelog. Who did: ${heard.join(', ')}.`);
	} else if (!lifelog.contents?.length) {
		hint(
			api,
			'The service sent no contents for this lifelog, so there is no transcript. The Markdown, which Get gives, may hold the text.',
			'warning',
		);
	} else {
		hint(api, 'Nothing is said in this lifelog.');
	}
}
