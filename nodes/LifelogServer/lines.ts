import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { inputError } from '../shared/errors/nodeErrors';
import { readNumber, readText, singleValueOf, withoutBlanks } from '../shared/parameters/read';

const startOffsetField: INodeProperties = {
	displayName: 'Start Offset (Ms)',
	name: 'startOffsetMs',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description: "The line's startOffsetMs in the transcript",
};

const currentTextField: INodeProperties = {
	displayName: 'Current Text',
	name: 'was',
	type: 'string',
	default: '',
	placeholder: 'e.g. The quick carbon is here.',
	description: 'The text that the line has now, exactly',
};

const textField: INodeProperties = {
	displayName: 'Text',
	name: 'text',
	type: 'string',
	default: '',
	placeholder: 'e.g. The QuickCarbon is here.',
	description: 'New text of the line. Leave empty to keep the current one.',
};

const speakerField: INodeProperties = {
	displayName: 'Speaker',
	name: 'speaker',
	type: 'string',
	default: '',
	placeholder: 'e.g. Anna',
	description: 'Who speaks in this line only. Leave empty to keep the current one.',
};

export const linesField: INodeProperties = {
	displayName: 'Lines',
	name: 'lines',
	type: 'fixedCollection',
	description: 'Lines of the transcript to correct, by their start and current text',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Line',
	default: {},
	options: [
		{
			displayName: 'Line',
			name: 'line',
			values: [startOffsetField, currentTextField, textField, speakerField],
		},
	],
};

/**
 * Reads the lines to correct.
 *
 * @returns The lines as the API takes them; undefined without any.
 * @throws NodeOperationError if a line has no current text, or nothing to change.
 */
export function readLines(context: IExecuteFunctions, value: unknown): IDataObject[] | undefined {
	const { line } = (value ?? {}) as { line?: unknown };
	const lines = [line ?? []].flat().map((each) => readLine(context, each));
	return lines.length === 0 ? undefined : lines;
}

function readLine(context: IExecuteFunctions, value: unknown): IDataObject {
	const fields = withoutBlanks(value);
	const [text, speaker] = [textField, speakerField].map((field) =>
		readText(context, field, fields),
	);
	// Not trimmed: the server compares it exactly.
	const was = String((singleValueOf(context, currentTextField, fields) ?? '') as string);
	if (was === '' || (text === '' && speaker === '')) {
		throw inputError(
			context,
			was === '' ? "'Lines' has a line without 'Current Text'" : "'Lines' has nothing to change",
			"Enter each line's current text, and a new text or speaker. Nothing was sent.",
		);
	}
	const startOffsetMs = readNumber(
		context,
		startOffsetField,
		fields,
		"Enter the line's startOffsetMs. Nothing was sent.",
	);
	return { startOffsetMs, was, ...(text && { text }), ...(speaker && { speaker }) };
}
