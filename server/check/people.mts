// people.json, by docs/reference/archive.md.
import { isUtf8 } from 'node:buffer';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parsed } from './dayManifest.mts';
import type { Report } from './findings.mts';
import { type Folder, IS_MISSING } from './folder.mts';

const PATH = 'people.json';
/** What no person is called, because it is somebody else in each recording. */
const LABEL =
	/^(|you|speaker|unknown([ _-]speaker)?([ _-]\p{Nd}{1,9})?|(((speaker|spk)[ _-]?)?(\p{Nd}{1,9}|[a-z])|s[ _-]?\p{Nd}{1,9}))( ?\(\d+\))*$/iu;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const isLabel = (each: string) =>
	LABEL.test(each.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/g, ' ').trim());

interface People {
	people: { name: string; alsoCalled?: string[]; isMe?: boolean }[];
}

const name = { type: 'string', minLength: 1 };
const isPeople = new Ajv2020().compile<People>({
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

/** Reports people.json if it is there, and no server can use it. */
export async function checkPeople(folder: Folder, report: Report): Promise<void> {
	const read = await folder.read(PATH);
	const problem = 'problem' in read ? read.problem : problemOf(read.content);
	if (problem === undefined || problem === IS_MISSING) return;
	report({ kind: 'broken', path: PATH, message: `${problem}, so it is ignored` });
}

/** What some editors begin a file with. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** What is wrong with the content, as the end of a sentence. */
function problemOf(bytes: Buffer): string | undefined {
	if (!isUtf8(bytes)) return "isn't UTF-8";
	const content = parsed(bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(3) : bytes);
	if (!isPeople(content)) {
		const [{ instancePath, message }] = isPeople.errors!;
		return `isn't a list of people: ${[instancePath.slice(1), message].filter(Boolean).join(' ')}`;
	}
	const names = content.people.flatMap((person) => [person.name, ...(person.alsoCalled ?? [])]);
	if (names.some(isLabel)) return 'names a person by a label';
	if (new Set(names).size < names.length) return 'has a name twice';
	const wearers = content.people.filter(({ isMe }) => isMe).length;
	return wearers > 1 ? 'has two people who are the wearer' : undefined;
}
