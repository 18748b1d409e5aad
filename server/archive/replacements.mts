// Words replaced in all lifelogs: replacements.json (docs/reference/archive.md, "Replacements").
import { ajv } from '../util/schema.mts';
import { FileError } from './folder.mts';
import { type Correction, isOfLaterVersion, parseJson } from './layout.mts';
import { toJson } from './lifelogFiles.mts';

/** A replacement of words. Fields of later versions stay. */
export interface Replacement extends Correction {
	/** UTC with milliseconds. */
	createdAt: string;
	/** Number of lifelogs that it changes or has changed. */
	lifelogs: number;
	lines: number;
	/** Whether all of them are changed. */
	isDone: boolean;
}

export interface ReplacementsFile {
	/** Oldest first. */
	replacements: Replacement[];
}

const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const isReplacementsFile = ajv.compile<ReplacementsFile>({
	type: 'object',
	required: ['replacements'],
	properties: {
		version: { const: 1 },
		replacements: {
			type: 'array',
			items: {
				type: 'object',
				required: ['id', 'heard', 'right', 'createdAt', 'lifelogs', 'lines', 'isDone'],
				properties: {
					...{ id: text, heard: text, right: text, createdAt: text },
					...{ lifelogs: count, lines: count, isDone: { type: 'boolean' } },
				},
			},
		},
	},
});

/** Parses replacements.json. @throws FileError with the problem. */
export function parseReplacements(json: string): ReplacementsFile {
	if (isOfLaterVersion(json)) {
		throw new FileError('was written by a later version of lifelog-server: update this one');
	}
	const file = parseJson(json);
	if (!isReplacementsFile(file)) throw new FileError("isn't a list of replacements");
	const ids = file.replacements.map(({ id }) => id);
	if (new Set(ids).size < ids.length) throw new FileError('has an ID twice');
	return file;
}

/** The text of replacements.json with other replacements. Fields that this version doesn't know stay. */
export const replacementsJson = (before: ReplacementsFile, replacements: Replacement[]): string =>
	toJson({ version: 1, ...before, replacements });
