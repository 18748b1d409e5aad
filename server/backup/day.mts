// Archives one day: reads what the plan names, then changes the archive in one step.
import pMap from 'p-map';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { EVERY_PART, MAX_PAGE_SIZE_WITH_CONTENTS, METADATA_ONLY } from '../../lifelog/paging.ts';
import { changeDays, type Day } from '../archive/changeDays.mts';
import { type Drafts, withDrafts } from '../archive/drafts.mts';
import type { Folder } from '../archive/folder.mts';
import {
	type ChatEntry,
	type DayManifest,
	type LifelogEntry,
	type NamedFile,
} from '../archive/layout.mts';
import { dayOf, lifelogFiles, parseIsoTime, placeOf, toJson } from '../archive/lifelogFiles.mts';
import { isSafePathSegment } from '../../lifelog/names.ts';
import { updatedAtOf } from '../archive/listed.mts';
import { LockedError } from '../archive/lock.mts';
import type { OwnChanges } from '../archive/ownChanges.mts';
import type { Span } from '../util/spans.mts';
import { countMessages, pages, type ListedChat, type ListedLifelog } from './listing.mts';
import { type Found, merge, nameOfAudio, type NewFile, type Read } from './mergedDay.mts';
import type { DayPlan, Kind } from './plan.mts';
import { RequestError, type ServiceClient, ServiceError } from './service.mts';
import { iso } from '../util/times.mts';

/** Dependencies of archiving a day. */
export interface DayContext {
	service: ServiceClient;
	archive: Folder;
	drafts: Drafts;
	/** Entries created, edited or deleted in the archive. */
	own: OwnChanges;
	/** IANA time zone of the Markdown. */
	timezone: string;
	/** Called before each kind of data, and for each file with its bytes. */
	onPhase: (phase: Kind) => void;
	onFile: (kind: Kind, bytes: number) => void;
}

/** A day's entries in the lists of the service. */
interface Listed {
	lifelogs: Map<string, ListedLifelog>;
	chats: Map<string, ListedChat> | undefined;
}

const MAX_CONCURRENT_FILES = 4;
const ANOTHER_ENTRY = 'the service returns another entry for its ID';
/** Every Ogg file starts with this. */
const OGG = 'OggS';

/**
 * Archives a day by its plan. Failures are recorded in the manifest, and everything else is stored.
 *
 * @param listed The day's entries in the lists.
 * @param manifest The current manifest.
 * @returns The new manifest, or the current one if nothing has changed.
 * @throws ServiceError, after storing what was already read; disk errors, which leave the archive
 *   unchanged.
 */
export async function archiveDay(
	given: Omit<DayContext, 'drafts'>,
	...day: [DayPlan, Listed, DayManifest | undefined]
): Promise<DayManifest> {
	return await withDrafts(given.archive.root, (drafts) => readDay({ ...given, drafts }, ...day));
}

async function readDay(
	context: DayContext,
	plan: DayPlan,
	listed: Listed,
	manifest: DayManifest | undefined,
): Promise<DayManifest> {
	const found: Found = {
		lifelogs: new Map([...plan.deleted.lifelogs].map(([id, each]) => [id, listedLifelog(each)])),
		chats: new Map([...plan.deleted.chats].map(([id, each]) => [id, listedChat(each)])),
		audio: [],
		missingAudio: [],
		failed: [],
		fatal: undefined,
	};
	context.onPhase('lifelogs');
	await readLifelogs(context, plan, listed.lifelogs, found);
	context.onPhase('chats');
	await readChats(context, plan, listed.chats, found);
	context.onPhase('audio');
	await readAudio(context, plan, found);
	await checkGone(context, plan, found);
	if (found.fatal && !(found.fatal instanceof ServiceError)) throw found.fatal;
	dropUnchanged(plan, manifest, found);
	const { lifelogs, chats, failed } = found;
	const isAsBefore = lifelogs.size + chats.size + failed.length === 0;
	if (manifest && plan.isOnlyAgain && isAsBefore) return manifest;
	const file = await save(context, plan, found);
	if (found.fatal) throw found.fatal;
	return file;
}

const listedLifelog = ({ updatedAt, isStarred, startMs, endMs }: ListedLifelog) => ({
	updatedAt,
	isStarred,
	files: [],
	spans: [{ startMs, endMs }],
});

const listedChat = ({ messages, isScheduled }: ListedChat) => ({
	messages,
	isScheduled,
	files: [],
});

async function readLifelogs(
	context: DayContext,
	{ day, lifelogs, again }: DayPlan,
	listed: Map<string, ListedLifelog>,
	found: Found,
): Promise<void> {
	const wanted = new Set([...lifelogs, ...again.lifelogs]);
	const store = async (lifelog: Lifelog) => {
		wanted.delete(lifelog.id);
		await storeLifelog(context, day, lifelog, listed.get(lifelog.id), found);
	};
	// Read pages of the day if they take fewer requests than single lifelogs.
	const isFewer = wanted.size > Math.ceil(listed.size / MAX_PAGE_SIZE_WITH_CONTENTS);
	if (isFewer || ![...wanted].every(isSafePathSegment)) {
		const query = { date: day, ...EVERY_PART };
		try {
			for await (const page of pages(
				context.service,
				'lifelogs',
				query,
				MAX_PAGE_SIZE_WITH_CONTENTS,
			)) {
				for (const lifelog of page as unknown as Lifelog[]) {
					if (wanted.has(lifelog.id) && lifelog.contents?.length > 0) await store(lifelog);
				}
				if (wanted.size === 0) break;
			}
		} catch (error) {
			// If the list fails, read each lifelog separately.
			if (!mayGoOn(error)) found.fatal ??= error;
		}
	}
	const readOne = async (id: string) => {
		const query = { timezone: 'UTC', ...EVERY_PART };
		await store(await readEntry<Lifelog>(context.service, 'lifelogs', id, query));
	};
	await pMap([...wanted], (id) => attempt(found, `lifelog ${id}`, () => readOne(id)), {
		concurrency: MAX_CONCURRENT_FILES,
	});
}

async function storeLifelog(
	{ drafts, timezone, onFile }: DayContext,
	day: string,
	lifelog: Lifelog,
	listed: ListedLifelog | undefined,
	found: Found,
): Promise<void> {
	const { id, isStarred } = lifelog;
	const fail = (message: string) => found.failed.push({ what: `lifelog ${id}`, message });
	const files = lifelogFiles(lifelog, timezone);
	const updatedAt = updatedAtOf(lifelog);
	if (!files || updatedAt === undefined) return void fail('does not say when it begins');
	if (files.day !== day) return void fail(`now begins on ${files.day}`);
	const stored = [
		await draftOf(drafts, files.json.path, files.json.content, files.startMs),
		await draftOf(drafts, files.markdown.path, files.markdown.content, files.startMs),
	];
	found.lifelogs.set(id, {
		updatedAt,
		isStarred: isStarred === true,
		...(listed && { listed: listed.listed }),
		files: stored,
	});
	onFile('lifelogs', stored[0].bytes + stored[1].bytes);
}

async function readChats(
	{ service, drafts, onFile }: DayContext,
	{ day, chats, again }: DayPlan,
	listed: Map<string, ListedChat> | undefined,
	found: Found,
): Promise<void> {
	const read = async (id: string) => {
		const chat = await readEntry<Chat>(service, 'chats', id, { timezone: 'UTC' });
		const createdMs = parseIsoTime(chat.createdAt);
		if (createdMs === undefined) throw new RequestError('does not say when it was created');
		if (dayOf(createdMs) !== day) throw new RequestError(`was created on ${dayOf(createdMs)}`);
		const path = `${placeOf('chats', id, createdMs)}.json`;
		const file = await draftOf(drafts, path, toJson(chat), createdMs);
		found.chats.set(id, {
			messages: countMessages(chat.messages),
			isScheduled: listed?.get(id)?.isScheduled ?? false,
			files: [file],
		});
		onFile('chats', file.bytes);
	};
	await pMap([...chats, ...again.chats], (id) => attempt(found, `chat ${id}`, () => read(id)), {
		concurrency: MAX_CONCURRENT_FILES,
	});
}

/** Keeps only changes of what was read again. */
function dropUnchanged({ again }: DayPlan, manifest: DayManifest | undefined, found: Found): void {
	for (const kind of ['lifelogs', 'chats'] as const) {
		for (const id of again[kind]) {
			const read = found[kind].get(id);
			if (read && isSame(read, manifest![kind][id])) found[kind].delete(id);
		}
	}
}

/** Whether an entry matches the manifest, including its files. */
function isSame({ files, ...said }: Read<LifelogEntry | ChatEntry>, before: object): boolean {
	const known = before as Record<string, unknown> & { files: NamedFile[] };
	return (
		Object.entries(said).every(([name, value]) => known[name] === value) &&
		files.every(({ path, sha256 }, nth) => {
			const stored = known.files.at(nth);
			return stored?.path === path && stored.sha256 === sha256;
		})
	);
}

async function readAudio(context: DayContext, plan: DayPlan, found: Found): Promise<void> {
	const read = async (span: Span) => {
		const file = await downloadAudio(context, plan.day, span);
		if (!file) return void found.missingAudio.push(span);
		found.audio.push({ ...span, ...file });
		context.onFile('audio', file.bytes);
	};
	await pMap(plan.audio, (span) => attempt(found, nameOfAudio(span), () => read(span)), {
		concurrency: MAX_CONCURRENT_FILES,
	});
}

/** Keeps as gone in the plan only what the service confirms to lack, or to have on another day. */
async function checkGone({ service }: DayContext, plan: DayPlan, found: Found): Promise<void> {
	const check = async (name: 'lifelogs' | 'chats', id: string) => {
		if (!isSafePathSegment(id)) return;
		await attempt(found, `${name === 'lifelogs' ? 'lifelog' : 'chat'} ${id}`, async () => {
			const query = { timezone: 'UTC', ...(name === 'lifelogs' && METADATA_ONLY) };
			if (await isThere(service, plan.day, name, id, query)) {
				plan.gone[name] = plan.gone[name].filter((each) => each !== id);
			}
		});
	};
	for (const name of ['lifelogs', 'chats'] as const) {
		await pMap([...plan.gone[name]], (id) => check(name, id), {
			concurrency: MAX_CONCURRENT_FILES,
		});
	}
	// A failed request doesn't prove that an entry is gone.
	const failed = new Set(found.failed.map(({ what }) => what));
	plan.gone.lifelogs = plan.gone.lifelogs.filter((id) => !failed.has(`lifelog ${id}`));
	plan.gone.chats = plan.gone.chats.filter((id) => !failed.has(`chat ${id}`));
}

/**
 * Whether the service has an entry on this day. For a missing one it may answer 404, or null
 * (docs/api-spec.md, section 4.3).
 */
async function isThere(
	service: ServiceClient,
	day: string,
	name: 'lifelogs' | 'chats',
	id: string,
	query: Record<string, string | boolean>,
): Promise<boolean> {
	const answer = await service.getJson(`/v1/${name}/${encodeURIComponent(id)}`, query);
	if (answer === undefined) return false;
	const { data } = (answer ?? {}) as {
		data?: { lifelog?: Partial<Lifelog> | null; chat?: Partial<Chat> | null } | null;
	};
	const entry = name === 'lifelogs' ? data?.lifelog : data?.chat;
	// Not an answer of the service, so it proves nothing.
	if (entry === undefined) throw new RequestError('the answer does not say whether it is there');
	if (entry === null) return false;
	if (entry.id !== id) throw new RequestError(ANOTHER_ENTRY);
	const { lifelog, chat } = data!;
	const startMs = parseIsoTime(lifelog?.startTime ?? chat?.createdAt);
	return startMs === undefined || dayOf(startMs) === day;
}

/** @returns undefined if the service has no audio of the range (docs/api-spec.md, section 4.5). */
async function downloadAudio(
	{ service, drafts }: DayContext,
	day: string,
	span: Span,
): Promise<NewFile | undefined> {
	const save = async (body: AsyncIterable<Uint8Array>, contentType: string) =>
		await drafts.save(onlyOgg(body, contentType));
	const saved = await service.download('/v1/download-audio', { ...span }, save);
	if (!saved) return undefined;
	const [start, end] = [span.startMs, span.endMs].map((ms) => iso(ms).replace(/[-:]|\.\d+/g, ''));
	const path = `audio/pendant/${day.replaceAll('-', '/')}/audio_${start}_${end}.ogg`;
	return { path, ...saved };
}

/** Passes on an answer, unless it doesn't start like Ogg. */
async function* onlyOgg(
	body: AsyncIterable<Uint8Array>,
	contentType: string,
): AsyncGenerator<Uint8Array> {
	const notOgg = (what: string) => new RequestError(`the answer ${what}`);
	let head = '';
	for await (const part of body) {
		head = (head + Buffer.from(part).toString('latin1', 0, OGG.length)).slice(0, OGG.length);
		if (!OGG.startsWith(head)) break;
		yield part;
	}
	if (head === '') throw notOgg('is empty');
	if (head !== OGG) throw notOgg(`is not Ogg audio but ${contentType || 'something else'}`);
}

/** Reads a lifelog or a chat (docs/api-spec.md, sections 4.3 and 4.7). */
async function readEntry<Entry extends { id: string }>(
	service: ServiceClient,
	name: 'lifelogs' | 'chats',
	id: string,
	query: Record<string, string | boolean>,
): Promise<Entry> {
	if (!isSafePathSegment(id)) throw new RequestError("has an ID that can't be requested");
	const answer = await service.getJson(`/v1/${name}/${encodeURIComponent(id)}`, query);
	const { data } = (answer ?? {}) as { data?: { lifelog?: Entry; chat?: Entry } };
	const entry = name === 'lifelogs' ? data?.lifelog : data?.chat;
	if (!entry) throw new RequestError("is in the list, but the service doesn't return it");
	if (entry.id !== id) throw new RequestError(ANOTHER_ENTRY);
	return entry;
}

/** Whether other requests may still succeed: the error isn't about the whole service or the disk. */
function mayGoOn(error: unknown): boolean {
	if (error instanceof ServiceError || error instanceof LockedError) return false;
	const { code, errcode } = error as { code?: unknown; errcode?: unknown };
	return code === undefined && errcode === undefined;
}

/** Runs `work`, or records why it failed. */
async function attempt(found: Found, what: string, work: () => Promise<void>): Promise<void> {
	try {
		if (found.fatal) throw found.fatal;
		await work();
	} catch (error) {
		if (!mayGoOn(error)) found.fatal ??= error;
		found.failed.push({ what, message: (error as Error).message });
	}
}

async function draftOf(
	drafts: Drafts,
	path: string,
	content: string,
	startMs: number,
): Promise<NewFile> {
	return { path, startMs, ...(await drafts.write(content)) };
}

/** Adds what was read to the archive, and returns the new manifest. */
async function save(context: DayContext, plan: DayPlan, found: Found): Promise<DayManifest> {
	const { archive, own, service } = context;
	let file: DayManifest | undefined;
	const change = async ([day]: Day[]) => {
		// Read only now, because a server may have changed something meanwhile.
		const next = merge(plan, day, found, await own.read(), service.now());
		file = next.file;
		return { manifests: [next.file], files: next.files };
	};
	const now = Math.round(service.now());
	await changeDays(archive, [plan.day], (days) => change([...days.values()]), now);
	return file!;
}
