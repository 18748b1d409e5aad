import type {
	IBinaryData,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { BINARY_ENCODING } from 'n8n-workflow';

import { inputError, unreadableFileError } from '../../shared/errors/nodeErrors';
import { maxWaitOption, optionsOf, timezoneOption } from '../../shared/parameters/descriptions';
import {
	readBoolean,
	readCollection,
	readInstant,
	readNumber,
	readZone,
} from '../../shared/parameters/read';
import type { Api } from '../../shared/auth/connection';
import { failedError, type RecordingFile, uploadRecording, waitForRecording } from '../recording';
import { trimmedText } from '../../../lifelog/text.ts';

const WAIT_RULE = { unit: 'seconds', isWhole: true, max: 86_400 };

export const description: INodeProperties[] = [
	{
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		required: true,
		description: 'Name of the input field with the audio, or with a video that has sound',
		hint: 'The name of the input binary field containing the file to be uploaded',
	},
	optionsOf([
		{
			displayName: 'Add Again If Deleted',
			name: 'again',
			type: 'boolean',
			default: true,
			description: 'Whether to make the lifelogs of the recording again if you deleted them',
		},
		{
			displayName: 'External ID',
			name: 'externalId',
			type: 'string',
			default: '',
			description:
				"Your own ID for the recording. A recording with the same ID isn't transcribed again.",
		},
		{
			displayName: 'Language',
			name: 'language',
			type: 'string',
			default: '',
			placeholder: 'e.g. en',
			description: 'Code of the spoken language. Without one, the model detects it.',
		},
		maxWaitOption,
		{
			displayName: 'Start Time',
			name: 'startTime',
			type: 'dateTime',
			default: '',
			description:
				"Start of the recording. Without it, the server uses the time in the file's name or in the file, or the time of the upload minus the duration.",
		},
		timezoneOption,
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			description: 'Title of the lifelog. Without one, the server chooses one from the transcript.',
		},
		{
			displayName: 'Wait for Lifelogs (Seconds)',
			name: 'waitSeconds',
			type: 'number',
			typeOptions: { minValue: 0, maxValue: WAIT_RULE.max, numberPrecision: 0 },
			default: 0,
			description:
				'Maximum time to wait until the recording has become lifelogs. 0 returns the recording once it is uploaded.',
		},
	]),
];

/**
 * Uploads a recording, which becomes lifelogs (lifelog-server, `POST /v1/recordings`).
 *
 * @returns One item: the recording. If it is done, it has the IDs of its lifelogs, and of those that
 *   were deleted.
 * @throws NodeOperationError if the item has no such file. NodeApiError if the recording failed.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const options = readCollection(this, 'options', itemIndex);
	const { startTime, waitSeconds = 0 } = options;
	const zone = readZone(this, options.timezone);
	const startMs =
		startTime === undefined ? undefined : readInstant(this, startTime, zone, 'start', 'Start Time');
	const waitS = readNumber(this, waitSeconds, 'Wait for Lifelogs', WAIT_RULE);
	const text = (value: unknown) => trimmedText(value) || undefined;
	const property = this.getNodeParameter('binaryPropertyName', itemIndex);
	// n8n takes what every object has, such as `constructor`, for a field of the item.
	const { binary = {} } = this.getInputData()[itemIndex];
	if (typeof property !== 'string' || (property in {} && !Object.hasOwn(binary, property))) {
		const advice = 'Enter the name of a binary field of the item.';
		throw inputError(this, "'Input Binary Field' is not the name of a field", advice);
	}
	const file = await fileOf(this, this.helpers.assertBinaryData(itemIndex, property));
	const uploaded = await uploadRecording(api, file, {
		startTime: startMs === undefined ? undefined : new Date(startMs).toISOString(),
		title: text(options.title),
		language: text(options.language),
		externalId: text(options.externalId),
		again: readBoolean(this, options.again, 'Add Again If Deleted') ? 'true' : undefined,
	});
	const recording = await waitForRecording(api, uploaded, waitS * 1000);
	if (recording.status === 'failed') throw failedError(api, recording, file.name);
	return [{ json: recording }];
}

export const readsInput = () => true;

/** A file of n8n's: in its storage or, in an n8n that keeps files in memory, in the item. */
async function fileOf(
	context: IExecuteFunctions,
	{ id, data, fileName, fileExtension, mimeType }: IBinaryData,
): Promise<RecordingFile> {
	const name = String(fileName ?? ['recording', fileExtension].filter(Boolean).join('.'));
	if (id === undefined) {
		const content = Buffer.from(data, BINARY_ENCODING);
		return { name, mimeType, bytes: content.length, open: async () => content };
	}
	const { helpers } = context;
	const { fileSize: bytes } = await helpers.getBinaryMetadata(id).catch((error: unknown) => {
		throw unreadableFileError(context, error);
	});
	return { name, mimeType, bytes, open: async () => await helpers.getBinaryStream(id) };
}
