import { Ajv } from 'ajv';
import type { DeleteResponse, Lifelog, LifelogList } from '../nodes/shared/api-types.ts';
import type { LifelogResponse, operations } from '../nodes/shared/api-types.ts';
import { decodeCursor, type Cursor } from './cursors.mts';
import { ApiError } from './errors.mts';
import { viewLifelog, type ViewOptions } from './lifelog-view.mts';
import { cutPage } from './pages.mts';
import type { Service } from './service.mts';
import type { LifelogFilter } from './store/store.mts';
import { checkZone, dayBounds, parseWallClock } from './times.mts';

export type ListQuery = NonNullable<operations['listLifelogs']['parameters']['query']>;
export type GetQuery = NonNullable<operations['getLifelog']['parameters']['query']>;

const searchCap = 100;
const mostWithContents = 25;

/** A list query with its defaults and its range filled in: what a cursor is bound to. */
interface ResolvedQuery extends ViewOptions, LifelogFilter {
	direction: 'asc' | 'desc';
	limit?: number;
}

const boolean = { type: 'boolean' };
const text = { type: 'string' };
/** A cursor comes from outside, and may be made up. */
const isResolvedQuery = new Ajv().compile<ResolvedQuery>({
	type: 'object',
	required: ['timezone', 'includeMarkdown', 'includeHeadings', 'includeContents', 'direction'],
	properties: {
		timezone: text,
		includeMarkdown: boolean,
		includeHeadings: boolean,
		includeContents: boolean,
		from: text,
		before: text,
		isStarred: boolean,
		direction: { enum: ['asc', 'desc'] },
		limit: { type: 'integer', minimum: 1 },
	},
});

/**
 * Lists or searches lifelogs. Throws an ApiError (400) naming the parameter for an unknown zone,
 * an unreadable time or cursor, a cursor with a search, and a limit that is rejected.
 */
export function listLifelogs(service: Service, query: ListQuery): LifelogList {
	if (query.search !== undefined) return searchLifelogs(service, query, query.search);
	const cursor: Cursor<ResolvedQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor, isResolvedQuery);
	const resolved = cursor?.query ?? resolveQuery(service, query);
	checkZone(resolved.timezone);
	const page = cutPage((slice) => service.store.listLifelogs(resolved, slice), {
		query: resolved,
		limit: pageSize(service, resolved.limit),
		direction: resolved.direction,
		cursor,
		position: ({ startTime, id }) => ({ time: startTime, id }),
		reading: service.reading,
	});
	return { data: { lifelogs: viewAll(page.entries, resolved) }, meta: { lifelogs: page.meta } };
}

function searchLifelogs(service: Service, query: ListQuery, search: string): LifelogList {
	if (query.cursor !== undefined) {
		throw new ApiError(400, 'cursor does not work together with search');
	}
	const resolved = resolveQuery(service, query);
	const limit = Math.min(pageSize(service, resolved.limit), searchCap);
	const best = service.store.searchLifelogs(search, resolved, limit);
	return {
		data: { lifelogs: viewAll(best, resolved) },
		meta: { lifelogs: { count: best.length } },
	};
}

/** Returns one lifelog. Throws an ApiError (404) for an unknown id unless null is answered. */
export function getLifelog(service: Service, id: string, query: GetQuery): LifelogResponse {
	const options = resolveView(service, query);
	const stored = service.store.getLifelog(id);
	if (!stored && service.reading.missing === '404') throw notFound();
	return { data: { lifelog: stored ? viewLifelog(stored, options) : null } };
}

/** Deletes a lifelog and its audio. Throws an ApiError (404) for an unknown id. */
export async function deleteLifelog(service: Service, id: string): Promise<DeleteResponse> {
	if (!(await service.store.deleteLifelog(id))) throw notFound();
	return service.reading.deleteShape === 'top' ? { success: true } : { data: { success: true } };
}

const notFound = () => new ApiError(404, 'Lifelog not found');

function resolveView(service: Service, query: GetQuery): ViewOptions {
	return {
		timezone: checkZone(query.timezone),
		includeMarkdown: query.includeMarkdown ?? true,
		includeHeadings: query.includeHeadings ?? true,
		includeContents: query.includeContents ?? service.reading.includeContentsDefault,
	};
}

function resolveQuery(service: Service, query: ListQuery): ResolvedQuery {
	const view = resolveView(service, query);
	return {
		...view,
		...resolveRange(service, query, view.timezone),
		isStarred: query.isStarred,
		direction: query.direction ?? 'desc',
		limit: query.limit,
	};
}

function resolveRange(
	{ reading }: Service,
	{ date, start, end }: ListQuery,
	zone: string,
): { from?: string; before?: string } {
	if (start === undefined && end === undefined) {
		return date === undefined ? {} : dayBounds(date, zone);
	}
	const from = start && parseWallClock('start', start, zone, reading.ambiguousHour);
	const before = end && parseWallClock('end', end, zone, reading.ambiguousHour);
	return { from, before: before && reading.endInclusive ? oneSecondAfter(before) : before };
}

function oneSecondAfter(iso: string): string {
	return new Date(Date.parse(iso) + 1000).toISOString();
}

function pageSize({ reading }: Service, limit: number | undefined): number {
	const { max, above } = reading.limit;
	if (limit !== undefined && limit > max && above === 'reject') {
		throw new ApiError(400, `limit must be at most ${max}`);
	}
	return Math.min(limit ?? (max === 10 ? 3 : 10), max);
}

function viewAll(lifelogs: Lifelog[], options: ViewOptions): Lifelog[] {
	const includeContents = options.includeContents && lifelogs.length <= mostWithContents;
	return lifelogs.map((lifelog) => viewLifelog(lifelog, { ...options, includeContents }));
}
