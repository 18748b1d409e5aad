import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../auth/connection';
import { readChoice } from './read';
import { freeName } from '../../../lifelog/names.ts';

const FILE_NAMES = ['readable', 'archive'] as const;

export type FileNames = (typeof FILE_NAMES)[number];

/** {@link readFileNames} reads it. */
export const fileNamesOption: INodeProperties = {
	displayName: 'File Names',
	name: 'fileNames',
	type: 'options',
	options: [
		{ name: 'Archive', value: 'archive', description: 'As in an archive: sorted by time in UTC' },
		{ name: 'Readable', value: 'readable', description: 'Date, time and title' },
	],
	default: 'readable',
	description:
		'Style of the file names. Readable ones are such as "2026-11-22 20.47 Mum calls.md".',
};

/** @throws NodeOperationError on another value. */
export function readFileNames(context: IExecuteFunctions, option: unknown): FileNames {
	return readChoice(context, option ?? 'readable', FILE_NAMES, 'File Names');
}

/** The names of each run, with their owners. */
const namesOfRuns = new WeakMap<Api['run'], Map<string, string>>();

/**
 * A name that no other file of the run has.
 *
 * @param nameOf The `nth` name to try.
 * @param owner Gets the same name each time; without one, each call gets another.
 */
export function nameInRun(api: Api, nameOf: (nth: number) => string, owner?: string): string {
	const names = namesOfRuns.get(api.run) ?? new Map<string, string>();
	namesOfRuns.set(api.run, names);
	return freeName(names, owner ?? `call ${names.size}`, nameOf);
}
