import type { FastifyReply } from 'fastify';
import { createLifelog, type NewLifelog } from '../../recordings/makeLifelog.mts';
import { asName } from '../../recordings/segments.mts';
import type { AskedChange, LifelogChange } from '../../archive/edits.mts';
import type { LineChange } from '../../archive/lines.mts';
import { ApiError } from '../../util/errors.mts';
import { viewLifelog } from '../viewLifelog.mts';
import type { Service } from '../service.mts';

/** Bytes. A day of speech with word times has about eight million. */
export const MAX_BODY_BYTES = 16 * 2 ** 20;

/** Throws an ApiError (403) if nothing may be created or changed. */
export function checkChanges({ maker }: Service): void {
	maker?.current().checkAllowed();
}

/** Throws an ApiError (403) if the server can't have recordings. */
export function checkRecordings(service: Service): void {
	if (!service.hasInbox) checkChanges(service);
}

/**
 * Creates a lifelog from a transcript: 201 with it, 200 with an existing one or with `status:
 * 'deleted'`.
 */
export async function addLifelog(
	service: Service,
	asked: NewLifelog,
	reply: FastifyReply,
): Promise<object> {
	const lifelog = bodyOf(asked);
	const { id, outcome } = await createLifelog(service.maker!, lifelog);
	reply.code(outcome === 'created' ? 201 : 200);
	if (outcome === 'deleted') return { data: { lifelog: null, status: outcome } };
	return answer(service, id, lifelog.timezone);
}

/** Changes a lifelog. Throws an ApiError: 404 for an unknown ID, 400 for an invalid change. */
export async function changeLifelog(
	service: Service,
	id: string,
	asked: AskedChange,
): Promise<object> {
	const { title, isStarred, speakers, lines, wholeRecording } = bodyOf(asked);
	const change: LifelogChange = {
		...(title !== undefined && { title: named('title', title) }),
		...(isStarred !== undefined && { isStarred }),
		...(speakers && {
			speakers: Object.fromEntries(
				Object.entries(speakers).map(([from, to]) => [from, named('speakers', to)]),
			),
		}),
		// Null has a meaning here: it restores the recorded names.
		...(asked.speakers === null && { speakers: null }),
		...(lines && { lines: lines.map(changeOfLine) }),
	};
	if (Object.keys(change).length === 0) {
		throw new ApiError(
			400,
			"There is nothing to change. Give 'title', 'isStarred', 'speakers' or 'lines'",
		);
	}
	const recording = wholeRecording ? recordingOf(service, id, change) : undefined;
	if (!(await service.maker!.current().changeLifelog(id, change, recording))) {
		throw new ApiError(404, 'Lifelog not found');
	}
	return answer(service, id);
}

/**
 * The IDs of a recording's lifelogs, to rename speakers in all of them.
 *
 * @throws ApiError (400) without new names, or if the lifelog isn't of a recording.
 */
function recordingOf(service: Service, id: string, { speakers }: LifelogChange): string[] {
	if (speakers === undefined) {
		throw new ApiError(400, "wholeRecording works only together with 'speakers'");
	}
	const recording = lifelogsBeside(service, id);
	if (recording.length > 0 || !service.current().getLifelog(id)) return recording;
	throw new ApiError(
		400,
		"wholeRecording: this lifelog isn't from a recording that the server knows. Leave it out",
	);
}

/** The IDs of all lifelogs of the same recording; empty if the lifelog wasn't made from one. */
export function lifelogsBeside({ recordingOf, maker }: Service, id: string): string[] {
	const { lifelogIds = [] } = recordingOf?.(id) ?? {};
	return lifelogIds.filter((each) => maker?.current().stateOf(each) === 'known');
}

/**
 * Writes the title and headings of a lifelog.
 *
 * @throws ApiError: 404 for an unknown ID, 409 without a chat endpoint or if the lifelog wasn't
 *   created here, 502 if the endpoint fails.
 */
export async function writeTitle(service: Service, id: string): Promise<object> {
	if (!service.later) {
		throw new ApiError(
			409,
			'This server has no chat endpoint: start lifelog-server with --chat-url and --chat-model',
		);
	}
	await service.later.write(id);
	return answer(service, id);
}

/** A body without null fields, which count as missing. @throws ApiError (400) if it isn't an object. */
export function bodyOf<Body extends object>(body: Body): Body {
	if (typeof body !== 'object' || body === null || Array.isArray(body)) {
		throw new ApiError(400, 'The body is not a JSON object. Send one, as application/json');
	}
	return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Body;
}

function named(parameter: string, text: string): string {
	const name = asName(text);
	if (name === '') throw new ApiError(400, `${parameter}: a name is empty. Give one with letters`);
	return name;
}

function changeOfLine({ text, speaker, ...line }: LineChange): LineChange {
	if (text === undefined && speaker === undefined) {
		throw new ApiError(400, "lines: a line has nothing to change. Give it 'text' or 'speaker'");
	}
	return {
		...line,
		...(text !== undefined && { text: text && wordsOf('lines: a text', text) }),
		...(speaker !== undefined && { speaker: speaker && named('lines', speaker) }),
	};
}

/** @throws ApiError (400) that starts with `what` if a text has several lines or no words. */
export function wordsOf(what: string, text: string): string {
	if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) {
		throw new ApiError(
			400,
			`${what} has a line break or another control character. Give one without`,
		);
	}
	if (text.trim() === '') throw new ApiError(400, `${what} is empty. Give one with words`);
	return text.trim();
}

function answer(service: Service, id: string, timezone = 'UTC'): object {
	const lifelog = service.current().getLifelog(id);
	const view = { includeMarkdown: true, includeHeadings: true, includeContents: true };
	return { data: { lifelog: lifelog ? viewLifelog(lifelog, { timezone, ...view }) : null } };
}
