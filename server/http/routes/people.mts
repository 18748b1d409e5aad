import { ajv } from '../../util/schema.mts';
import type { PeopleChange } from '../../archive/people.mts';
import type { ArchiveStore } from '../../index/archiveStore.mts';
import type { People } from '../../index/people.mts';
import { plain } from '../../index/words.mts';
import { asName } from '../../recordings/segments.mts';
import { ApiError } from '../../util/errors.mts';
import { decodeCursor, type Cursor } from '../cursors.mts';
import { cutPage, MAX_PAGE } from '../cutPage.mts';
import type { HeardPerson, Position, Slice } from '../../index/store.mts';
import type { Person } from '../pageApi/answers.mts';
import type { Service } from '../service.mts';
import { bodyOf } from './changes.mts';

export const SORTS = ['lastHeard', 'lifelogs', 'name'] as const;
type Sort = (typeof SORTS)[number];

/** Parameters of the list. */
export interface PeopleQuery {
	/** A person, by any name. */
	name?: string;
	/** A part of a name. */
	search?: string;
	sort?: Sort;
	cursor?: string;
	limit?: number;
}

type BoundQuery = Required<Pick<PeopleQuery, 'sort' | 'limit'>> & Pick<PeopleQuery, 'search'>;

const USUAL_PAGE = 50;
const MAX_NAME = 200;

/** Cursors come from clients and may be forged. */
const isBoundQuery = ajv.compile<BoundQuery>({
	type: 'object',
	required: ['sort', 'limit'],
	properties: {
		search: { type: 'string' },
		sort: { enum: [...SORTS] },
		limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE },
	},
});

/**
 * Lists the people with names in lifelogs, or returns the one who has or had a name.
 *
 * @throws ApiError: 400 for an invalid cursor, 404 for an unknown name.
 */
export function listPeople(service: Service, query: PeopleQuery): object {
	const { people } = archiveOf(service);
	if (query.name !== undefined) {
		const person = people.find(query.name);
		if (!person) throw new ApiError(404, 'Person not found');
		return listOf(people, [person]);
	}
	const cursor: Cursor<BoundQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor, isBoundQuery);
	const bound = cursor?.query ?? {
		...{ search: query.search, sort: query.sort ?? 'lastHeard' },
		limit: query.limit ?? USUAL_PAGE,
	};
	const sorted = sortedPeople(people.all(), bound);
	const page = cutPage(({ after, limit }: Slice) => firstAfter(sorted, bound.sort, after, limit), {
		...{ query: bound, limit: bound.limit, direction: 'asc' as const, cursor },
		position: (person) => positionOf(bound.sort, person),
	});
	return listOf(people, page.entries, page.meta);
}

/**
 * Changes a person's name everywhere.
 *
 * @returns A list with the changed person; empty if the name was forgotten.
 * @throws ApiError: 400 for an invalid change, 404 for an unknown person, 409 for another person's
 *   name, or if people.json can't be read or written.
 */
export async function changePeople(service: Service, asked: AskedPeopleChange): Promise<object> {
	const { people } = archiveOf(service);
	const person = await archiveOf(service).changePeople(changeOf(people, bodyOf(asked)));
	return listOf(people, person ? [person] : []);
}

/** The body of a change, with one of the last three fields. */
export interface AskedPeopleChange {
	person: string;
	name?: string;
	merge?: boolean;
	separate?: string[];
	isMe?: boolean;
}

function changeOf(
	people: People,
	{ person, name, merge, separate, isMe }: AskedPeopleChange,
): PeopleChange {
	const given = [name, separate, isMe].filter((each) => each !== undefined);
	if (given.length !== 1) {
		throw new ApiError(400, "Give exactly one of 'name', 'separate' and 'isMe'");
	}
	if (merge !== undefined && name === undefined) {
		throw new ApiError(400, "merge works only together with 'name'");
	}
	// An existing name may have any form.
	const called = (parameter: string, asked: string) =>
		people.find(asked) ? asked : checkName(parameter, asked);
	called('person', person);
	if (separate) return { person, separate };
	if (isMe !== undefined) return { person, isMe };
	return { person, name: called('name', name!), merge };
}

function checkName(parameter: string, asked: string): string {
	const name = asName(asked);
	if (/\p{Cc}/u.test(asked)) {
		throw new ApiError(400, `${parameter}: a name has a control character. Give one without`);
	}
	if (name === '') throw new ApiError(400, `${parameter}: a name is empty. Give one with letters`);
	if ([...name].length > MAX_NAME) {
		throw new ApiError(400, `${parameter}: a name has more than ${MAX_NAME} characters`);
	}
	return name;
}

function archiveOf({ maker }: Service): ArchiveStore {
	return maker!.current();
}

/** The people that match a search, sorted. */
export function sortedPeople(
	all: HeardPerson[],
	{ search, sort }: Pick<BoundQuery, 'search' | 'sort'>,
): HeardPerson[] {
	const found = search?.trim() ? all.filter(isCalled(search)) : all;
	const keyed = found.map((person) => ({ person, at: positionOf(sort, person) }));
	return keyed.sort((a, b) => compare(sort, a.at, b.at)).map(({ person }) => person);
}

/** A function that tests whether a name of a person contains the searched text. */
function isCalled(search: string): (person: HeardPerson) => boolean {
	const part = plain(search.trim());
	return ({ name, alsoCalled }) => [name, ...alsoCalled].some((each) => plain(each).includes(part));
}

function keyOf(sort: Sort, { name, lifelogs, lastHeard }: HeardPerson): string {
	if (sort === 'name') return plain(name);
	return sort === 'lifelogs' ? String(lifelogs).padStart(9, '0') : (lastHeard ?? '');
}

const positionOf = (sort: Sort, person: HeardPerson): Position => ({
	time: keyOf(sort, person),
	id: person.name,
});

/** Names in ascending order, otherwise the latest and the largest first. */
function compare(sort: Sort, a: Position, b: Position): number {
	const order = sort === 'name' ? 1 : -1;
	if (a.time !== b.time) return a.time < b.time ? -order : order;
	return a.id < b.id ? -1 : Number(a.id > b.id);
}

function firstAfter(
	sorted: HeardPerson[],
	sort: Sort,
	after: Position | undefined,
	limit: number,
): HeardPerson[] {
	if (!after) return sorted.slice(0, limit);
	return sorted
		.filter((person) => compare(sort, positionOf(sort, person), after) > 0)
		.slice(0, limit);
}

function listOf(people: People, some: HeardPerson[], meta: object = { count: some.length }) {
	const withSimilar = some.map((person): Person => ({
		...person,
		similar: people.similarTo(person.name),
	}));
	return { data: { people: withSimilar }, meta: { people: meta } };
}
