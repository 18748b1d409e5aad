import type { FastifyInstance } from 'fastify';
import type { Lifelog } from '../../../lifelog/api.ts';
import { linesOf, namesIn } from '../../../lifelog/contents.ts';
import { readableName } from '../../../lifelog/names.ts';
import { ApiError } from '../../util/errors.mts';
import { checkDate, dayBounds, zoneFormatter } from '../../util/times.mts';
import { audioRangesOf } from '../../index/archiveAudio.mts';
import type { ArchiveStore } from '../../index/archiveStore.mts';
import type { Serving } from '../../index/serving.mts';
import { spanOf } from '../../recordings/transcribeAgain.mts';
import { missingDays } from '../missingDays.mts';
import { requireKey, visitorOf } from '../api.mts';
import { sendAudio } from '../routes/audio.mts';
import { lifelogsBeside } from '../routes/changes.mts';
import type { Visitor } from '../auth/access.mts';
import type { Endpoints } from '../endpoints.mts';
import type { Service } from '../service.mts';
import type {
	AudioMap,
	CalendarDay,
	Day,
	DayEntry,
	EndpointsAnswer,
	LifelogNeighbors,
	RecordingOfLifelog,
	Session,
	SessionAnswer,
	Status,
	StatusAnswer,
} from './answers.mts';
import { sendDay } from './dayZip.mts';
import { pageSearchSchema, searchForPage, type PageSearch } from './search.mts';

/** The settings that are the same for all sessions with full access. */
export type ServedPage = Omit<Session, 'isReadOnly' | 'isOwner' | 'hasChats'>;

/** Missing audio of a day's lifelogs. */
type AudioGap = Status['audioGaps'][number];

/** Adds the routes under `/web/` that the API lacks. All except `/web/session` need a session or a key. */
export async function addPageData(
	app: FastifyInstance,
	service: Service,
	serving: Serving,
	{ page, endpoints }: { page: ServedPage; endpoints: Endpoints },
): Promise<void> {
	const { timezone } = page;
	// Not 401 for visitors who aren't signed in: browsers would log an error each time.
	app.get('/web/session', async (request): Promise<SessionAnswer> => {
		const visitor = visitorOf(service, request);
		if (!visitor) return { isSignedIn: false };
		const hasChats = serving.waiting !== undefined || serving.current().counts().chats > 0;
		return { isSignedIn: true, ...sessionFor(visitor, page), hasChats };
	});
	await app.register(async (web) => {
		web.addHook('onRequest', requireKey(service));
		const calendar = untilChanged(serving, (store) => calendarOf(store, timezone));
		const audioGaps = untilChanged(serving, (store) => audioGapsOf(store, timezone));
		web.get('/web/days', async () => ({ days: calendar() }));
		web.get<{ Params: { day: string } }>('/web/days/:day', async ({ params }) =>
			dayOf(serving.current(), checkDate(params.day), timezone, calendar()),
		);
		web.get<{ Params: { day: string }; Querystring: { audio?: boolean } }>(
			'/web/days/:day/zip',
			{ schema: { querystring: { type: 'object', properties: { audio: { type: 'boolean' } } } } },
			async ({ params, query: { audio = false } }, reply) =>
				sendDay(serving, checkDate(params.day), timezone, audio, reply),
		);
		web.get('/web/status', async () => statusOf(serving, calendar, audioGaps));
		// Separate from the status: an endpoint that doesn't answer would delay it.
		web.get('/web/endpoints', async (): Promise<EndpointsAnswer> => ({
			endpoints: await endpoints.states(),
		}));
		web.get<{ Querystring: PageSearch }>(
			'/web/search',
			{ schema: { querystring: pageSearchSchema } },
			async ({ query }) => searchForPage(serving.current(), query, timezone),
		);
		web.get<{ Params: { id: string } }>(
			'/web/lifelogs/:id/audio-map',
			async ({ params }): Promise<AudioMap> => {
				const store = serving.current();
				const [own, any] = audioRangesOf(lifelogOf(store, params.id));
				const spans = await store.getAudioSpans(...own);
				return {
					spans: spans.length > 0 ? spans : await store.getAudioSpans(...any),
					files: store.audioBetween(any[0], any[1]).map(({ path }) => path),
				};
			},
		);
		web.get<{ Params: { id: string } }>('/web/lifelogs/:id/neighbors', async ({ params }) =>
			neighborsOf(serving.current(), params.id),
		);
		web.get<{ Params: { id: string } }>(
			'/web/lifelogs/:id/recording',
			async ({ params: { id } }): Promise<RecordingOfLifelog> => {
				const store = serving.current();
				if (store.stateOf(id) !== 'known') throw new ApiError(404, 'Lifelog not found');
				const recording = service.recordingOf?.(id);
				const { status, error } = recording ?? {};
				return {
					lifelogIds: lifelogsBeside(service, id),
					recording: recording ? { id: recording.id, status: status!, error: error! } : null,
					isAudioKept:
						recording?.durationMs != null &&
						(await store.recorded.audioOf(spanOf(recording))) !== undefined,
					namesBefore: store.recorded.namesBefore(id),
				};
			},
		);
		web.get<{ Params: { id: string } }>(
			'/web/audio/:id',
			{ exposeHeadRoute: true },
			async ({ params, headers }, reply) => {
				const store = serving.current();
				const audio = await store.getAudioOf(lifelogOf(store, params.id));
				if (!audio) throw new ApiError(404, 'This lifelog has no audio');
				const { title, startTime } = store.getLifelog(params.id, HEAD)!;
				const name = `${readableName(Date.parse(startTime), timezone, title)}.ogg`;
				return sendAudio(audio, headers, reply, 'audio/ogg', namedAs(name));
			},
		);
	});
}

function sessionFor(
	{ canChange, isOwner }: Visitor,
	options: ServedPage,
): Omit<Session, 'hasChats'> {
	return {
		...options,
		canChange: options.canChange && canChange,
		canDelete: options.canDelete && canChange,
		canUpload: options.canUpload && canChange,
		canTitle: options.canTitle && canChange,
		canFill: options.canFill && canChange,
		hasWebhooks: options.hasWebhooks && canChange,
		...{ isReadOnly: !canChange, isOwner },
	};
}

/** Reads a lifelog without its long parts. */
const HEAD = { markdown: false, contents: false };

/** The header with a download's file name (RFC 6266). */
const namedAs = (name: string) =>
	`inline; filename="audio.ogg"; filename*=UTF-8''${encodeURIComponent(name).replaceAll(
		/['()*]/g,
		(sign) => `%${sign.charCodeAt(0).toString(16)}`,
	)}`;

/** Caches a value computed from all lifelogs until the data changes. */
function untilChanged<Value>(serving: Serving, read: (store: ArchiveStore) => Value): () => Value {
	let kept: { revision: object; value: Value } | undefined;
	return () => {
		const store = serving.current();
		const { revision } = store;
		if (kept?.revision !== revision) kept = { revision, value: read(store) };
		return kept.value;
	};
}

/** @throws ApiError (404) for an unknown ID. */
function lifelogOf(store: ArchiveStore, id: string): Lifelog {
	const lifelog = store.getLifelog(id, HEAD);
	if (!lifelog) throw new ApiError(404, 'Lifelog not found');
	return lifelog;
}

function calendarOf(store: ArchiveStore, timezone: string): CalendarDay[] {
	const inZone = zoneFormatter(timezone);
	const days = new Map<string, CalendarDay>();
	const dayAt = (time: string) => {
		const day = inZone(time).slice(0, 10);
		const known = days.get(day) ?? { day, lifelogs: 0, starred: 0, durationMs: 0, audioMs: 0 };
		days.set(day, known);
		return known;
	};
	for (const { startTime, endTime, isStarred } of store.lifelogTimes()) {
		const day = dayAt(startTime);
		day.lifelogs += 1;
		day.starred += Number(isStarred);
		day.durationMs += Math.max(0, Date.parse(endTime) - Date.parse(startTime));
	}
	for (const { startMs, endMs } of store.audioBetween(-Infinity, Infinity)) {
		dayAt(new Date(startMs).toISOString()).audioMs += endMs - startMs;
	}
	return [...days.values()].sort((a, b) => (a.day < b.day ? 1 : -1));
}

/** The lifelogs of a day without contents, its audio, and the previous and next days with content. */
function dayOf(store: ArchiveStore, day: string, timezone: string, calendar: CalendarDay[]): Day {
	const { from, before } = dayBounds(day, timezone);
	const lifelogs = store.listLifelogs({ from, before }, { direction: 'asc', limit: MAX_OF_DAY });
	return {
		day,
		timezone,
		// The calendar is sorted from the newest.
		previous: calendar.find((each) => each.day < day)?.day ?? null,
		next: calendar.findLast((each) => each.day > day)?.day ?? null,
		startMs: Date.parse(from),
		endMs: Date.parse(before),
		lifelogs: lifelogs.map(inShort),
		audio: store
			.audioBetween(Date.parse(from), Date.parse(before))
			.map(({ startMs, endMs }) => ({ startMs, endMs })),
	};
}

/** The previous and the next lifelog. @throws ApiError (404) for an unknown ID. */
function neighborsOf(store: ArchiveStore, id: string): LifelogNeighbors {
	const lifelog = store.getLifelog(id, HEAD);
	if (!lifelog) throw new ApiError(404, 'Lifelog not found');
	const after = { time: lifelog.startTime, id };
	const beside = (direction: 'asc' | 'desc') => {
		const [found] = store.listLifelogs({}, { direction, after, limit: 1 }, HEAD);
		return found ? { id: found.id, title: found.title } : null;
	};
	return { previous: beside('desc'), next: beside('asc') };
}

const MAX_OF_DAY = 10_000;

function inShort({ id, title, startTime, endTime, isStarred, contents }: Lifelog): DayEntry {
	const headings = linesOf(contents).flatMap(({ level, node }) =>
		level === 2 ? [node.content] : [],
	);
	return { id, title, startTime, endTime, isStarred, speakers: namesIn(contents), headings };
}

const MAX_PROBLEMS = 1_000;

/** What the archive contains and lacks. While the index is being built, only its progress. */
function statusOf(
	serving: Serving,
	calendarOfAll: () => CalendarDay[],
	audioGapsOfAll: () => AudioGap[],
): StatusAnswer {
	const { waiting, progress } = serving;
	if (waiting !== undefined) return { index: { state: waiting, ...progress } };
	const store = serving.current();
	const days = store.days();
	const leftOut = days.flatMap(({ day, problems }) =>
		Object.entries(problems).map(([path, { reason }]) => ({ day, path, reason })),
	);
	const calendar = calendarOfAll();
	const audioGaps = audioGapsOfAll();
	return {
		index: { state: 'ready' },
		search: serving.describeMeaning() ?? 'full text',
		...store.counts(),
		audioGaps: audioGaps.slice(0, MAX_PROBLEMS),
		audioGapsCount: audioGaps.length,
		firstDay: calendar.at(-1)?.day ?? null,
		lastDay: calendar.at(0)?.day ?? null,
		days: calendar.length,
		// The archive has manifests for days in UTC.
		missingDays: missingDays(days.map(({ day }) => day)),
		incompleteDays: days.filter(({ isComplete }) => !isComplete).map(({ day }) => day),
		leftOut: leftOut.slice(0, MAX_PROBLEMS),
		leftOutCount: leftOut.length,
		peopleProblem: store.people.problem ?? null,
		replacementsProblem: store.replacements.problem ?? null,
	};
}

/** A shorter range without audio is a pause. */
const MIN_AUDIO_GAP_MS = 60_000;

/** Days with lifelogs that lack audio, newest first. Empty if the archive has no audio at all. */
function audioGapsOf(store: ArchiveStore, timezone: string): AudioGap[] {
	const inZone = zoneFormatter(timezone);
	const audio = store.audioBetween(-Infinity, Infinity);
	if (audio.length === 0) return [];
	const days = new Map<string, number>();
	let first = 0;
	for (const { startTime, endTime } of store.lifelogTimes()) {
		const [startMs, endMs] = [Date.parse(startTime), Date.parse(endTime)];
		while (first < audio.length && audio[first].endMs <= startMs) first += 1;
		let missingMs = 0;
		let reachedMs = startMs;
		const reach = (fromMs: number, toMs: number) => {
			if (fromMs - reachedMs >= MIN_AUDIO_GAP_MS) missingMs += fromMs - reachedMs;
			reachedMs = Math.max(reachedMs, toMs);
		};
		for (let at = first; audio[at]?.startMs < endMs; at += 1) {
			reach(audio[at].startMs, audio[at].endMs);
		}
		reach(endMs, endMs);
		if (missingMs === 0) continue;
		const day = inZone(startTime).slice(0, 10);
		days.set(day, (days.get(day) ?? 0) + missingMs);
	}
	return [...days].map(([day, missingMs]) => ({ day, missingMs })).reverse();
}
