// What several operations have.
import type { INodeProperties } from 'n8n-workflow';

export const titleParameter: INodeProperties = {
	displayName: 'Title',
	name: 'title',
	type: 'string',
	default: '',
	description: 'Title of the lifelog. Without one, the server chooses one from the transcript.',
};

export const startTimeParameter: INodeProperties = {
	displayName: 'Start Time',
	name: 'startTime',
	type: 'dateTime',
	default: '',
};

export const againOption: INodeProperties = {
	displayName: 'Add Again If Deleted',
	name: 'again',
	type: 'boolean',
	default: true,
	description: 'Whether to create the lifelog again if you deleted it',
};

export const externalIdOption: INodeProperties = {
	displayName: 'External ID',
	name: 'externalId',
	type: 'string',
	default: '',
	description:
		"Your own ID for the lifelog. Using the same ID again doesn't create a second lifelog.",
};
