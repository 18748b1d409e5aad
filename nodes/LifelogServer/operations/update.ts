import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { inputError } from '../../shared/errors/nodeErrors';
import { described } from '../../shared/errors/sanitize';
import { isStarredFilter } from '../../shared/parameters/lists';
import { outputParameters, readOutput } from '../../shared/parameters/output';
import { readBoolean, readCollection, readText, withoutBlanks } from '../../shared/parameters/read';
import { lifelogIdParameter, readId } from '../../shared/parameters/resourceLocator';
import { readZone } from '../../shared/parameters/times';
import { changedJson, sendChange } from '../change';
import { linesField, readLines } from '../lines';
import { titleParameter } from '../parameters';

const isStarredField: INodeProperties = {
	...isStarredFilter,
	description: 'Whether to star the lifelog',
};

const currentNameField: INodeProperties = {
	displayName: 'Current Name',
	name: 'name',
	type: 'string',
	default: '',
	placeholder: 'e.g. SPEAKER_00',
};

const newNameField: INodeProperties = {
	displayName: 'New Name',
	name: 'newName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Anna',
};

const speakersField: INodeProperties = {
	displayName: 'Speakers',
	name: 'speakers',
	type: 'fixedCollection',
	description: 'New names of speakers, by their names in the transcript',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Speaker',
	default: {},
	options: [
		{
			displayName: 'Speaker',
			name: 'speaker',
			values: [currentNameField, newNameField],
		},
	],
};

const wholeRecordingField: INodeProperties = {
	displayName: 'Whole Recording',
	name: 'wholeRecording',
	type: 'boolean',
	default: true,
	description:
		"Whether to give the speakers their new names in all lifelogs of the recording. Works for labels such as 'SPEAKER_00'.",
};

export const description: INodeProperties[] = [
	{
		...lifelogIdParameter,
		description: 'The lifelog to change. Its ID is the id that a list or a search returns.',
	},
	{
		displayName: 'Update Fields',
		name: 'updateFields',
		type: 'collection',
		placeholder: 'Add Field',
		default: {},
		description: 'Fields to change in the lifelog. Other fields keep their values.',
		options: [
			isStarredField,
			linesField,
			speakersField,
			{
				...titleParameter,
				description: 'New title of the lifelog, up to 200 characters',
			},
			wholeRecordingField,
		],
	},
	...outputParameters,
];

/**
 * Changes a lifelog (lifelog-server, `PATCH /v1/lifelogs/{id}`).
 *
 * @returns One item: the lifelog as it is now.
 * @throws NodeOperationError if no field is set, a speaker has no name, or a line has nothing to change.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, lifelogIdParameter, itemIndex, 'lifelog');
	const fields = readCollection(this, 'updateFields', itemIndex);
	const title = readText(this, titleParameter, fields);
	const isStarred = readBoolean(this, isStarredField, fields);
	const speakers = readSpeakers(this, fields.speakers);
	const lines = readLines(this, fields.lines);
	const isWhole = readBoolean(this, wholeRecordingField, fields) === true;
	const change = {
		...(title !== '' && { title }),
		...(isStarred !== undefined && { isStarred }),
		...(speakers && { speakers, ...(isWhole && { wholeRecording: true }) }),
		...(lines && { lines }),
	};
	if (Object.keys(change).length === 0) {
		throw inputError(
			this,
			"'Update Fields' has no field with a value",
			"Add at least one of 'Title', 'Is Starred', 'Speakers' and 'Lines'. Nothing was sent.",
		);
	}
	const output = readOutput(this, itemIndex);
	const lifelog = await sendChange(api, change, id);
	return [{ json: changedJson(lifelog, output, readZone(this)) }];
}

/** New names by the current ones; undefined without any. */
function readSpeakers(
	context: IExecuteFunctions,
	value: unknown,
): Record<string, string> | undefined {
	const { speaker } = (value ?? {}) as { speaker?: unknown };
	const pairs = [speaker ?? []].flat().map((pair) => {
		const names = withoutBlanks(pair);
		return [currentNameField, newNameField].map((field) => readText(context, field, names));
	});
	if (pairs.length === 0) return undefined;
	if (pairs.flat().includes('')) {
		throw inputError(
			context,
			"'Speakers' has an empty name",
			"Enter each speaker's current name and the new one. Nothing was sent.",
		);
	}
	const names = pairs.map(([name]) => name);
	const twice = names.find((name, index) => names.indexOf(name) !== index);
	if (twice !== undefined) {
		throw inputError(
			context,
			`'Speakers' renames ${described(twice)} twice`,
			'Enter each current name once. Nothing was sent.',
		);
	}
	return Object.fromEntries(pairs) as Record<string, string>;
}
