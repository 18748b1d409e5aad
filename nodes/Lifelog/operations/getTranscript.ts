import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import { utterances } from '../../../lifelog/contents.ts';
import { withDefaultOfTool } from '../../shared/parameters/conditions';
import { optionsOf } from '../../shared/parameters/lists';
import {
	choices,
	readChoice,
	readCollection,
	readNumber,
	readText,
} from '../../shared/parameters/read';
import { inputError } from '../../shared/errors/nodeErrors';
import { hint } from '../../shared/errors/hints';
import {
	lifelogIdParameter,
	lifelogIdParameters,
	readId,
} from '../../shared/parameters/resourceLocator';
import { readZone, timezoneOption } from '../../shared/parameters/times';
import { isTool } from '../../shared/parameters/tool';
import { getLifelog } from '../../shared/api/entries';
import { maxCharactersOption, readMaxCharacters } from '../parameters/maxCharacters';
import { placedUtterances, textOf } from '../transcript';

const outputAsParameter = choices({
	displayName: 'Output As',
	name: 'outputAs',
	type: 'options',
	options: [
		{
			name: 'Utterances',
			value: 'utterances',
			description: 'One item for each utterance, with speaker and times',
		},
		{
			name: 'Text',
			value: 'text',
			description: 'One item with the whole transcript, one line for each utterance',
		},
	],
	default: 'utterances',
	description: 'Form of the transcript',
});

const fromOffsetOption: INodeProperties = {
	displayName: 'From Offset (Milliseconds)',
	name: 'fromOffsetMs',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Milliseconds from the start of the lifelog at which to begin. 0 returns the whole transcript. To continue one that was cut, use its nextOffsetMs.',
};

const speakersOption: INodeProperties = {
	displayName: 'Speakers',
	name: 'speakers',
	type: 'string',
	default: '',
	placeholder: 'e.g. user, Anna',
	description:
		'Comma-separated names of the speakers to return, in upper or lower case. user means the wearer. Leave it empty for everyone.',
};

export const description: INodeProperties[] = [
	...lifelogIdParameters(
		'The lifelog whose transcript to read. Its ID is the id that a list or a search returns.',
	),
	...withDefaultOfTool(outputAsParameter, 'text'),
	optionsOf([
		fromOffsetOption,
		{ ...maxCharactersOption, displayOptions: { hide: { '/outputAs': ['utterances'] } } },
		speakersOption,
		timezoneOption,
	]),
];

/**
 * Reads what was said in a lifelog (specification, sections 2.2 and 4.3).
 *
 * @returns One item per utterance, or one item `{ lifelogId, title, text }`, with `isTruncated` and
 *   `nextOffsetMs` if the text was cut.
 * @throws NodeApiError if there is no lifelog with this ID.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, lifelogIdParameter, itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const outputAs = readChoice(this, outputAsParameter, itemIndex);
	const fromOffsetMs = readNumber(this, fromOffsetOption, options);
	const maxLength = outputAs === 'text' ? readMaxCharacters(this, options) : 0;
	const timezone = readZone(this, options);
	const speakers = readText(this, speakersOption, options)
		.split(',')
		.map((speaker) => speaker.trim())
		.filter(Boolean);
	const lifelog = await getLifelog(api, id, {
		timezone,
		includeMarkdown: false,
		includeHeadings: true,
		includeContents: true,
	});
	const placed = placedUtterances(lifelog, timezone, maxLength);
	const wanted = new Set(utterances(lifelog, speakers).map(({ index }) => index));
	const spoken = placed.filter(
		({ utterance, atMs }) => wanted.has(utterance.index) && atMs >= fromOffsetMs,
	);
	if (spoken.length === 0) hintWhy(this, api, lifelog, speakers, fromOffsetMs);
	if (outputAs === 'utterances') return spoken.map(({ utterance }) => ({ json: { ...utterance } }));
	return [{ json: { lifelogId: lifelog.id, title: lifelog.title, ...textOf(spoken, maxLength) } }];
}

/**
 * Says why there is nothing.
 *
 * @throws NodeOperationError in a tool if none of the names spoke: a model sees no hints.
 */
function hintWhy(
	context: IExecuteFunctions,
	api: Api,
	lifelog: Lifelog,
	wanted: string[],
	fromOffsetMs: number,
): void {
	const heard = [...new Set(utterances(lifelog).map(({ speaker }) => speaker))];
	if (utterances(lifelog, wanted).length > 0) {
		const of = wanted.length > 0 ? ` of ${wanted.join(', ')}` : '';
		hint(api, `No utterance${of} begins at ${fromOffsetMs} ms or later.`);
	} else if (heard.length > 0) {
		const message = `This lifelog has no utterances of ${wanted.join(', ')}. Its speakers: ${heard.join(', ')}.`;
		if (isTool(context)) {
			const advice = "Enter some of these names as 'Speakers', or leave it empty for everyone.";
			throw inputError(context, message, advice);
		}
		hint(api, message);
	} else if (!lifelog.contents?.length) {
		hint(
			api,
			'The service sent no contents for this lifelog, so there is no transcript. The Markdown of Get Lifelog may contain the text.',
			'warning',
		);
	} else {
		hint(api, 'This lifelog has no utterances.');
	}
}
