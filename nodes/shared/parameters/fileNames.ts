import { freeName } from '../../../lifelog/names.ts';
import type { Api } from '../auth/connection';
import { choices } from './read';

export const fileNamesOption = choices({
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
});

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
