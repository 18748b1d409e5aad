import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { lifelogIdParameter, readId } from '../../shared/parameters/resourceLocator';
import { inputError } from '../../shared/errors/nodeErrors';
import { described } from '../../shared/errors/sanitize';
import { outputOfItem, outputParameters } from '../../shared/parameters/output';
import { readBoolean, readZone, withoutBlanks } from '../../shared/parameters/read';
import type { Api } from '../../shared/auth/connection';
import { changedJson, sendChange } from '../change';
import { trimmedText } from '../../../lifelog/text.ts';

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
			{
				displayName: 'Is Starred',
				name: 'isStarred',
				type: 'boolean',
				default: true,
				description: 'Whether to star the lifelog',
			},
			{
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
						values: [
							{
								displayName: 'Current Name',
								name: 'name',
								type: 'string',
								default: '',
								placeholder: 'e.g. SPEAKER_00',
							},
							{
								displayName: 'New Name',
								name: 'newName',
								type: 'string',
								default: '',
								placeholder: 'e.g. Anna',
							},
						],
					},
				],
			},
			{
				displayName: 'Title',
				name: 'title',
				type: 'string',
				default: '',
				description: 'New title of the lifelog, up to 200 characters',
			},
		],
	},
	...outputParameters,
];

/**
 * Changes a lifelog (lifelog-server, `PATCH /v1/lifelogs/{id}`).
 *
 * @returns One item: the lifelog as it is now.
 * @throws NodeOperationError if no field is set, or a speaker has no name.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const { speakers: renamed, ...fields } = this.getNodeParameter(
		'updateFields',
		itemIndex,
		{},
	) as IDataObject;
	const { title, isStarred: starred } = withoutBlanks(this, fields);
	const isStarred = readBoolean(this, starred, 'Is Starred');
	const speakers = readSpeakers(this, renamed);
	const change = {
		...(title !== undefined && { title: trimmedText(title) }),
		...(isStarred !== undefined && { isStarred }),
		...(speakers && { speakers }),
	};
	if (Object.keys(change).length === 0) {
		throw inputError(
			this,
			"'Update Fields' has no field with a value",
			"Add at least one of 'Title', 'Is Starred' and 'Speakers'. Nothing was sent.",
		);
	}
	const output = outputOfItem(this, itemIndex);
	const lifelog = await sendChange(api, change, id);
	return [{ json: changedJson(lifelog, output, readZone(this, undefined)) }];
}

/** New names by the current ones; undefined if there are none. */
function readSpeakers(
	context: IExecuteFunctions,
	value: unknown,
): Record<string, string> | undefined {
	const { speaker } = (value ?? {}) as { speaker?: unknown };
	const pairs = [speaker ?? []].flat().map((pair) => {
		const { name, newName } = withoutBlanks(context, pair);
		return [name, newName].map((each) => trimmedText(each));
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
