// Checks people.json and replacements.json against docs/reference/archive.md.
import { isUtf8 } from 'node:buffer';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { parsed } from './dayManifest.mts';
import type { Report } from './findings.mts';
import { type Folder, IS_MISSING } from './folder.mts';
import { ajv } from './schema.mts';

/** Labels can't be names of people: they mean another person in each recording. */
const LABEL =
	/^(|you|speaker|unknown([ _-]speaker)?([ _-]\p{Nd}{1,9})?|(((speaker|spk)[ _-]?)?(\p{Nd}{1,9}|[a-z])|s[ _-]?\p{Nd}{1,9}))( ?\(\d+\))*$/iu;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const isLabel = (each: string) =>
	LABEL.test(each.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/g, ' ').trim());

interface People {
	people: { name: string; alsoCalled?: string[]; isMe?: boolean }[];
}

const name = { type: 'string', minLength: 1 };
const isPeople = ajv.compile<People>({
	type: 'object',
	required: ['people'],
	properties: {
		version: { const: 1 },
		people: {
			type: 'array',
			items: {
				type: 'object',
				required: ['name'],
				properties: {
					name,
					alsoCalled: { type: 'array', items: name },
					isMe: { type: 'boolean' },
				},
			},
		},
	},
});

const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const isReplacements = ajv.compile<{ replacements: { id: string }[] }>({
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

/** The files, with functions that return the problem of their content. It completes a sentence. */
const PROBLEMS: Record<string, (content: unknown) => string | undefined> = {
	'people.json': (content) => {
		if (!isPeople(content)) return `isn't a list of people: ${errorOf(isPeople)}`;
		const names = content.people.flatMap((person) => [person.name, ...(person.alsoCalled ?? [])]);
		if (names.some(isLabel)) return 'names a person by a label';
		if (new Set(names).size < names.length) return 'has a name twice';
		const wearers = content.people.filter(({ isMe }) => isMe).length;
		return wearers > 1 ? 'has two people who are the wearer' : undefined;
	},
	'replacements.json': (content) => {
		if (!isReplacements(content)) {
			return `isn't a list of replacements: ${errorOf(isReplacements)}`;
		}
		const ids = content.replacements.map(({ id }) => id);
		return new Set(ids).size < ids.length ? 'has an ID twice' : undefined;
	},
};

function errorOf({ errors }: ValidateFunction): string {
	const [{ instancePath, message }] = errors!;
	return [instancePath.slice(1), message].filter(Boolean).join(' ');
}

/** Reports people.json and replacements.json if they exist and a server can't use them. */
export async function checkOwnFiles(folder: Folder, report: Report): Promise<void> {
	for (const [path, problemOf] of Object.entries(PROBLEMS)) {
		const read = await folder.read(path);
		const problem = 'problem' in read ? read.problem : contentProblem(read.content, problemOf);
		if (problem === undefined || problem === IS_MISSING) continue;
		report({ kind: 'broken', path, message: `${problem}, so it is ignored` });
	}
}

/** Some editors put this at the start of a file. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function contentProblem(
	bytes: Buffer,
	problemOf: (content: unknown) => string | undefined,
): string | undefined {
	if (!isUtf8(bytes)) return "isn't UTF-8";
	return problemOf(parsed(bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(3) : bytes));
}
