// The people of an archive: people.json (docs/reference/archive.md, "People").
import { ajv } from '../util/schema.mts';
import { isLabel } from '../../lifelog/speakers.ts';
import { ApiError } from '../util/errors.mts';
import { quoted } from '../util/text.mts';
import { FileError, type Folder, readIfThere } from './folder.mts';
import { isOfLaterVersion, parseJson, PEOPLE } from './layout.mts';
import { toJson } from './lifelogFiles.mts';

/** A person with other names in some lifelogs, or the wearer. Fields of later versions stay. */
export interface Person {
	name: string;
	/** Other names that lifelogs may use. */
	alsoCalled?: string[];
	isMe?: boolean;
}

/** A requested change. `person` is a current or former name. */
export type PeopleChange = { person: string } & (
	{ name: string; merge?: boolean } | { separate: string[] } | { isMe: boolean }
);

export interface PeopleFile {
	people: Person[];
}

const text = { type: 'string', minLength: 1 };
const isPeopleFile = ajv.compile<PeopleFile>({
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
					name: text,
					alsoCalled: { type: 'array', items: text },
					isMe: { type: 'boolean' },
				},
			},
		},
	},
});

/** Parses people.json. @throws FileError with the problem. */
export function parsePeople(json: string): PeopleFile {
	if (isOfLaterVersion(json)) {
		throw new FileError('was written by a later version of lifelog-server: update this one');
	}
	const file = parseJson(json);
	if (!isPeopleFile(file)) throw new FileError("isn't a list of people");
	const names = file.people.flatMap(namesOf);
	if (names.some(isLabel)) throw new FileError('names a person by a label, such as SPEAKER_00');
	if (new Set(names).size < names.length) throw new FileError('has a name twice');
	if (file.people.filter(({ isMe }) => isMe).length > 1) {
		throw new FileError('has two people who are the wearer');
	}
	return file;
}

/** Reads the people of an archive; empty without people.json. @throws FileError with the file's problem. */
export const readPeople = async (folder: Folder): Promise<PeopleFile> =>
	await readIfThere(folder, PEOPLE, parsePeople, { people: [] });

/** The text of people.json with other people. Fields that this version doesn't know stay. */
export const peopleJson = (before: PeopleFile, people: Person[]): string =>
	toJson({ version: 1, ...before, people });

/** All names of a person, the current one first. */
export const namesOf = ({ name, alsoCalled = [] }: Person): string[] => [name, ...alsoCalled];

/** The person who has or had a name. */
const personOf = (people: Person[], name: string): Person | undefined =>
	people.find((person) => namesOf(person).includes(name));

/**
 * Changes people.
 *
 * @param isHeard Whether a lifelog has a speaker of this name.
 * @returns The changed people, and the person's display name.
 * @throws ApiError: 400 for a label, or for a name to separate that the person doesn't have; 404
 *   for an unknown person; 409 for another person's name.
 */
export function changePeople(
	people: Person[],
	change: PeopleChange,
	isHeard: (name: string) => boolean,
): { people: Person[]; name: string } {
	refuseLabel('person', change.person);
	if ('name' in change) refuseLabel('name', change.name);
	const find = (name: string) =>
		personOf(people, name) ?? (isHeard(name) ? { name, alsoCalled: [] } : undefined);
	const own = find(change.person);
	if (!own) throw new ApiError(404, 'Person not found: GET /v1/people lists everyone');
	if ('separate' in change) return put(people, [own], separated(own, change.separate));
	if ('isMe' in change) return putWearer(people, own, change.isMe);
	const other = find(change.name);
	if (!other || other.name === own.name) {
		return put(people, [own], renamed(own, change.name, isHeard));
	}
	if (!change.merge) throw taken(change.name, other);
	return put(people, [own, other], merged(own, other, change.name));
}

function renamed(own: Person, name: string, isHeard: (name: string) => boolean): Person {
	const { name: before, alsoCalled = [] } = own;
	if (name === before) return own;
	const isBack = alsoCalled.includes(name);
	const others = alsoCalled.filter((each) => each !== name);
	return { ...own, name, alsoCalled: isBack && !isHeard(before) ? others : [...others, before] };
}

function merged(own: Person, other: Person, name: string): Person {
	const names = [...namesOf(own).slice(1), own.name, ...namesOf(other).slice(1), other.name];
	const isMe = own.isMe === true || other.isMe === true;
	return {
		...{ ...other, ...own },
		...{ name, alsoCalled: names.filter((each) => each !== name) },
		...(isMe && { isMe }),
	};
}

function separated(own: Person, names: string[]): Person {
	const alsoCalled = own.alsoCalled ?? [];
	const unknown = names.find((name) => !alsoCalled.includes(name));
	if (unknown !== undefined) {
		throw new ApiError(
			400,
			`separate: ${quoted(own.name)} isn't also called ${quoted(unknown)}. ${
				alsoCalled.length === 0
					? 'There is no other name'
					: `The other names are ${alsoCalled.slice(0, MAX_NAMED).map(quoted).join(', ')}`
			}`,
		);
	}
	return { ...own, alsoCalled: alsoCalled.filter((name) => !names.includes(name)) };
}

function putWearer(people: Person[], own: Person, isMe: boolean) {
	const others = people.filter((each) => isMe && each.isMe && each !== own);
	const without = others.reduce(
		(all, other) => put(all, [other], { ...other, isMe: false }).people,
		people,
	);
	return put(without, [own], { ...own, isMe });
}

/** Replaces some people by one. A person without other fields is left out. */
function put(people: Person[], before: Person[], { isMe, alsoCalled = [], ...person }: Person) {
	const now: Person = {
		...person,
		// Sorted, so that undoing restores the same text.
		...(alsoCalled.length > 0 && { alsoCalled: alsoCalled.toSorted() }),
		...(isMe && { isMe }),
	};
	const isSaid = Object.keys(now).length > 1;
	const at = people.findIndex((each) => before.includes(each));
	const others = people.filter((each) => !before.includes(each));
	if (isSaid) others.splice(at === -1 ? others.length : at, 0, now);
	return { people: others, name: now.name };
}

const MAX_NAMED = 20;

function refuseLabel(parameter: string, name: string): void {
	if (!isLabel(name)) return;
	throw new ApiError(
		400,
		`${parameter}: ${quoted(name)} is a label, which is somebody else in each recording. Name the speaker in a lifelog, or with wholeRecording in all of its recording: PATCH /v1/lifelogs/{id}`,
	);
}

const taken = (name: string, { name: current }: Person) =>
	new ApiError(
		409,
		`${name === current ? `There is a person ${quoted(name)}` : `${quoted(current)} is also called ${quoted(name)}`}. Send merge: true if they are one person, or choose another name`,
	);
