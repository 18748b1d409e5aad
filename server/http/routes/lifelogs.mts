import { ajv } from '../../util/schema.mts';
import type { DeleteResponse, Lifelog, LifelogList } from '../../../lifelog/api.ts';
import type { LifelogResponse, operations } from '../../../lifelog/api.ts';
import { decodeCursor, type Cursor } from '../cursors.mts';
import { ApiError } from '../../util/errors.mts';
import { viewLifelog, type ViewOptions } from '../viewLifelog.mts';
import { cutPage, MAX_PAGE } from '../cutPage.mts';
import type { Service } from '../service.mts';
import { checkSearch } from '../../index/search.mts';
import type { LifelogFilter, Parts } from '../../index/store.mts';
import { checkZone, dayBounds, parseOptionalWallClock } from '../../util/times.mts';

/** `speaker` is an addition of this server: the service ignores it. */
export type ListQuery = NonNullable<operations['listLifelogs']['parameters']['query']> & {
	speaker?: string;
};
export type GetQuery = NonNullable<operations['getLifelog']['parameters']['query']>;

const USUAL_PAGE = 10;
const maxWithContents = 25;

/** A list query with defaults and its range. A cursor is bound to it. */
interface ResolvedQuery extends ViewOptions, LifelogFilter {
	direction: 'asc' | 'desc';
	limit: number;
}

const boolean = { type: 'boolean' };
const text = { type: 'string' };
/** Cursors come from clients and may be forged. */
const isResolvedQuery = ajv.compile<ResolvedQuery>({
	type: 'object',
	required: [
		'timezone',
		'includeMarkdown',
		'includeHeadings',
		'includeContents',
		'direction',
		'limit',
	],
	properties: {
		timezone: text,
		includeMarkdown: boolean,
		includeHeadings: boolean,
		includeContents: boolean,
		from: text,
		before: text,
		isStarred: boolean,
		speaker: text,
		direction: { enum: ['asc', 'desc'] },
		limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE },
	},
});

/**
 * Lists or searches lifelogs. Throws an ApiError (400) with the parameter's name for an unknown
 * time zone, an invalid time or cursor, a cursor in a search, or a search that is too long.
 */
export async function listLifelogs(service: Service, query: ListQuery): Promise<LifelogList> {
	if (query.search !== undefined) return searchLifelogs(service, query, query.search);
	const cursor: Cursor<ResolvedQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor, isResolvedQuery);
	const resolved = cursor?.query ?? resolveQuery(query);
	checkZone(resolved.timezone);
	const { limit } = resolved;
	const parts = partsOf(resolved, limit);
	const page = cutPage((slice) => service.current().listLifelogs(resolved, slice, parts), {
		query: resolved,
		limit,
		direction: resolved.direction,
		cursor,
		position: ({ startTime, id }) => ({ time: startTime, id }),
	});
	const lifelogs = viewAll(service, page.entries, resolved, parts);
	return { data: { lifelogs }, meta: { lifelogs: page.meta } };
}

async function searchLifelogs(
	service: Service,
	query: ListQuery,
	search: string,
): Promise<LifelogList> {
	if (query.cursor !== undefined) {
		throw new ApiError(400, 'cursor does not work together with search');
	}
	checkSearch(search);
	const resolved = resolveQuery(query);
	const { limit } = resolved;
	const parts = partsOf(resolved, limit);
	const best = await service.current().searchLifelogs(search, resolved, limit, parts);
	return {
		data: { lifelogs: viewAll(service, best, resolved, parts) },
		meta: { lifelogs: { count: best.length } },
	};
}

/** Returns one lifelog. Throws an ApiError (404) for an unknown ID. */
export function getLifelog(service: Service, id: string, query: GetQuery): LifelogResponse {
	const options = resolveView(query);
	const stored = service.current().getLifelog(id);
	if (!stored) throw notFound();
	return { data: { lifelog: viewLifelog(stored, options) } };
}

/** Deletes a lifelog and its audio. Throws an ApiError (404) for an unknown ID. */
export async function deleteLifelog(service: Service, id: string): Promise<DeleteResponse> {
	const remove = async () => await service.current().deleteLifelog(id);
	const wasThere = await (service.deleteLifelog?.(id, remove) ?? remove());
	if (!wasThere) throw notFound();
	return { success: true };
}

const notFound = () => new ApiError(404, 'Lifelog not found');

function resolveView(query: GetQuery): ViewOptions {
	return {
		timezone: checkZone(query.timezone),
		includeMarkdown: query.includeMarkdown ?? true,
		includeHeadings: query.includeHeadings ?? true,
		includeContents: query.includeContents ?? true,
	};
}

function resolveQuery(query: ListQuery): ResolvedQuery {
	const view = resolveView(query);
	return {
		...view,
		...resolveRange(query, view.timezone),
		isStarred: query.isStarred,
		speaker: query.speaker,
		direction: query.direction ?? 'desc',
		limit: Math.min(query.limit ?? USUAL_PAGE, MAX_PAGE),
	};
}

function resolveRange(
	{ date, start, end }: ListQuery,
	zone: string,
): { from?: string; before?: string } {
	if (start === undefined && end === undefined) {
		return date === undefined ? {} : dayBounds(date, zone);
	}
	return {
		from: parseOptionalWallClock('start', start, zone),
		before: parseOptionalWallClock('end', end, zone),
	};
}

/** The parts to read for a page of this size. */
function partsOf({ includeMarkdown, includeContents }: ViewOptions, limit: number): Parts {
	return {
		markdown: includeMarkdown,
		contents: includeContents && limit <= maxWithContents,
	};
}

function viewAll(
	service: Service,
	lifelogs: Lifelog[],
	options: ViewOptions,
	parts: Parts,
): Lifelog[] {
	const includeContents = options.includeContents && lifelogs.length <= maxWithContents;
	// Contents weren't read because of a large `limit`, but the page is small enough for them.
	const read = (lifelog: Lifelog) =>
		includeContents && !parts.contents
			? (service.current().getLifelog(lifelog.id) ?? lifelog)
			: lifelog;
	return lifelogs.map((lifelog) => viewLifelog(read(lifelog), { ...options, includeContents }));
}
