import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { DateTime } from 'luxon';

import type { Api } from '../auth/connection';
import { readChoice } from './read';
import { beginning, oneLine } from '../../../lifelog/text.ts';

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
		'Style of the file names: readable (such as "2026-11-22 20.47 Mum calls.md") or archive (as in an archive, in UTC)',
};

/** @throws NodeOperationError on another value. */
export function readFileNames(context: IExecuteFunctions, option: unknown): FileNames {
	return readChoice(context, option ?? 'readable', FILE_NAMES, 'File Names');
}

/** In UTF-16 units. */
const MAX_TITLE_LENGTH = 80;
/** Characters with a meaning, or refused, on Windows, macOS, Google Drive or S3. */
const UNSAFE = /[\\/:*?"<>|{}^%`[\]~#\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}]/gu;

/** The names of each run, in lower case. */
const namesOfRuns = new WeakMap<Api['run'], Set<string>>();

/**
 * A name without extension, unique within the run: `2026-11-22 20.47 Mum calls`.
 *
 * @param start Epoch ms, named in `zone`.
 */
export function readableName(api: Api, start: number, zone: string, title: unknown): string {
	const time = DateTime.fromMillis(start, { zone }).toFormat('yyyy-MM-dd HH.mm');
	const name = `${time} ${safeTitle(title)}`.trim();
	const names = namesOfRuns.get(api.run) ?? new Set();
	namesOfRuns.set(api.run, names);
	let unique = name;
	for (let nth = 2; names.has(unique.toLowerCase()); nth++) unique = `${name} (${nth})`;
	names.add(unique.toLowerCase());
	return unique;
}

function safeTitle(title: unknown): string {
	const words = oneLine(title).normalize('NFC').replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim();
	const cut = beginning(words, MAX_TITLE_LENGTH);
	// Windows refuses a full stop or a blank at the end.
	let end = cut.length;
	while (end > 0 && /[\s.]/.test(cut[end - 1])) end--;
	return cut.slice(0, end);
}
