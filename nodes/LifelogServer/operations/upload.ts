import type {
	IBinaryData,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { BINARY_ENCODING } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { inputError, unreadableFileError } from '../../shared/errors/nodeErrors';
import { optionsOf } from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import {
	readBoolean,
	readCollection,
	readNumber,
	readText,
	valueOf,
} from '../../shared/parameters/read';
import { readInstantIfSet, readZone, timezoneOption } from '../../shared/parameters/times';
import { againOption, externalIdOption, startTimeParameter, titleParameter } from '../parameters';
import { failedError, type RecordingFile, uploadRecording, waitForRecording } from '../recording';

const binaryPropertyParameter: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	description: 'Name of the input field with the audio, or with a video that has sound',
	hint: 'The name of the input binary field containing the file to be uploaded',
};

const languageOption: INodeProperties = {
	displayName: 'Language',
	name: 'language',
	type: 'string',
	default: '',
	placeholder: 'e.g. en',
	description: 'Code of the spoken language. Without one, the model detects it.',
};

const waitOption: INodeProperties = {
	displayName: 'Wait for Lifelogs (Seconds)',
	name: 'waitSeconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 86_400, numberPrecision: 0 },
	default: 0,
	description:
		'Maximum time to wait until the recording has become lifelogs. 0 returns the recording once it is uploaded.',
};

const promptOption: INodeProperties = {
	displayName: 'Words to Expect',
	name: 'prompt',
	type: 'string',
	default: '',
	placeholder: 'e.g. Anna Meier, Quickcarbon',
	description:
		'Names and terms that the recording may contain, at most 400 characters. The server passes them to its transcription endpoint.',
};

export const description: INodeProperties[] = [
	binaryPropertyParameter,
	optionsOf([
		{
			...againOption,
			description: 'Whether to make the lifelogs of the recording again if you deleted them',
		},
		{
			...externalIdOption,
			description:
				"Your own ID for the recording. A recording with the same ID isn't transcribed again.",
		},
		languageOption,
		maxWaitOption,
		{
			...startTimeParameter,
			description:
				"Start of the recording. Without it, the server uses the time in the file's name or in the file, or the time of the upload minus the duration.",
		},
		timezoneOption,
		titleParameter,
		waitOption,
		promptOption,
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
	const zone = readZone(this, options);
	const startMs = readInstantIfSet(this, startTimeParameter, options, zone, 'start');
	const waitS = readNumber(this, waitOption, options);
	const fields = {
		startTime: startMs === undefined ? undefined : new Date(startMs).toISOString(),
		title: readText(this, titleParameter, options) || undefined,
		language: readText(this, languageOption, options) || undefined,
		prompt: readText(this, promptOption, options) || undefined,
		externalId: readText(this, externalIdOption, options) || undefined,
		again: readBoolean(this, againOption, options) ? 'true' : undefined,
	};
	const file = await fileOf(this, inputFile(this, itemIndex));
	const uploaded = await uploadRecording(api, file, fields);
	const recording = await waitForRecording(api, uploaded, waitS * 1000);
	if (recording.status === 'failed') throw failedError(api, recording, file.name);
	return [{ json: recording }];
}

function inputFile(context: IExecuteFunctions, itemIndex: number): IBinaryData {
	const property = valueOf(context, binaryPropertyParameter, itemIndex);
	// n8n takes what every object has, such as `constructor`, for a field of the item.
	const { binary = {} } = context.getInputData()[itemIndex];
	if (typeof property !== 'string' || (property in {} && !Object.hasOwn(binary, property))) {
		const advice = 'Enter the name of a binary field of the item.';
		throw inputError(context, "'Input Binary Field' is not the name of a field", advice);
	}
	return context.helpers.assertBinaryData(itemIndex, property);
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
