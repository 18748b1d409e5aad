import type { DeleteResponse, Lifelog, LifelogList } from '../nodes/shared/api-types.ts';
import type { LifelogResponse, operations } from '../nodes/shared/api-types.ts';
import { decodeCursor, type Cursor } from './cursors.mts';
import { ApiError } from './errors.mts';
import { viewLifelog, type ViewOptions } from './lifelog-view.mts';
import { cutPage } from './pages.mts';
import { checkZone, dayBounds, parseWallClock } from './times.mts';
import type { World } from './world.mts';

export type ListQuery = NonNullable<operations['listLifelogs']['parameters']['query']>;
export type GetQuery = NonNullable<operations['getLifelog']['parameters']['query']>;

const searchCap = 100;
const mostWithContents = 25;

/** A list query with its defaults and its range filled in: what a cursor is bound to. */
interface ResolvedQuery extends ViewOptions {
	from?: string;
	before?: string;
	isStarred?: boolean;
	direction: 'asc' | 'desc';
	limit?: number;
}

/**
 * Lists or searches lifelogs. Throws an ApiError (400) naming the parameter for an unknown zone,
 * an unreadable time or cursor, a cursor with a search, and a limit the dialect rejects.
 */
export function listLifelogs(world: World, query: ListQuery): LifelogList {
	if (query.search !== undefined) return searchLifelogs(world, query, query.search);
	const cursor: Cursor<ResolvedQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor);
	const resolved = cursor?.query ?? resolveQuery(world, query);
	const page = cutPage(filterLifelogs(world.lifelogs.list(), resolved), {
		query: resolved,
		limit: pageSize(world, resolved.limit),
		direction: resolved.direction,
		cursor,
		position: ({ startTime, id }) => ({ time: startTime, id }),
		dialect: world.dialect,
	});
	return { data: { lifelogs: viewAll(page.entries, resolved) }, meta: { lifelogs: page.meta } };
}

function searchLifelogs(world: World, query: ListQuery, search: string): LifelogList {
	if (query.cursor !== undefined) {
		throw new ApiError(400, 'cursor does not work together with search');
	}
	const resolved = resolveQuery(world, query);
	const limit = Math.min(pageSize(world, resolved.limit), searchCap);
	const found = world.searchIndex
		.search(search)
		.map((id) => world.lifelogs.get(id))
		.filter((lifelog) => lifelog !== undefined);
	const best = filterLifelogs(found, resolved).slice(0, limit);
	return {
		data: { lifelogs: viewAll(best, resolved) },
		meta: { lifelogs: { count: best.length } },
	};
}

/** Returns one lifelog. Throws an ApiError (404) for an unknown id unless the dialect answers null. */
export function getLifelog(world: World, id: string, query: GetQuery): LifelogResponse {
	const options = resolveView(world, query);
	const stored = world.lifelogs.get(id);
	if (!stored && world.dialect.missing === '404') throw notFound();
	return { data: { lifelog: stored ? viewLifelog(stored, options) : null } };
}

/** Deletes a lifelog and its audio. Throws an ApiError (404) for an unknown id. */
export function deleteLifelog(world: World, id: string): DeleteResponse {
	if (!world.deleteLifelog(id)) throw notFound();
	return world.dialect.deleteShape === 'top' ? { success: true } : { data: { success: true } };
}

const notFound = () => new ApiError(404, 'Lifelog not found');

function resolveView(world: World, query: GetQuery): ViewOptions {
	return {
		timezone: checkZone(query.timezone),
		includeMarkdown: query.includeMarkdown ?? true,
		includeHeadings: query.includeHeadings ?? true,
		includeContents: query.includeContents ?? world.dialect.includeContentsDefault,
	};
}

function resolveQuery(world: World, query: ListQuery): ResolvedQuery {
	const view = resolveView(world, query);
	return {
		...view,
		...resolveRange(world, query, view.timezone),
		isStarred: query.isStarred,
		direction: query.direction ?? 'desc',
		limit: query.limit,
	};
}

function resolveRange(
	{ dialect }: World,
	{ date, start, end }: ListQuery,
	zone: string,
): { from?: string; before?: string } {
	if (start === undefined && end === undefined) {
		return date === undefined ? {} : dayBounds(date, zone);
	}
	const from = start && parseWallClock('start', start, zone, dialect.ambiguousHour);
	const before = end && parseWallClock('end', end, zone, dialect.ambiguousHour);
	return { from, before: before && dialect.endInclusive ? oneSecondAfter(before) : before };
}

function oneSecondAfter(iso: string): string {
	return new Date(Date.parse(iso) + 1000).toISOString();
}

function filterLifelogs(
	lifelogs: Lifelog[],
	{ from, before, isStarred }: ResolvedQuery,
): Lifelog[] {
	return lifelogs.filter(
		(lifelog) =>
			(from === undefined || lifelog.startTime >= from) &&
			(before === undefined || lifelog.startTime < before) &&
			(isStarred === undefined || lifelog.isStarred === isStarred),
	);
}

function pageSize({ dialect }: World, limit: number | undefined): number {
	const { max, above } = dialect.limit;
	if (limit !== undefined && limit > max && above === 'reject') {
		throw new ApiError(400, `limit must be at most ${max}`);
	}
	return Math.min(limit ?? (max === 10 ? 3 : 10), max);
}

function viewAll(lifelogs: Lifelog[], options: ViewOptions): Lifelog[] {
	const includeContents = options.includeContents && lifelogs.length <= mostWithContents;
	return lifelogs.map((lifelog) => viewLifelog(lifelog, { ...options, includeContents }));
}
