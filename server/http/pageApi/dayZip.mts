// A day as a zip, with the same files as an export.
import type { FastifyReply } from 'fastify';
import type { Lifelog } from '../../../lifelog/api.ts';
import { writeLifelog } from '../../../lifelog/files/formats.ts';
import { freeName } from '../../../lifelog/names.ts';
import { nameOf, NOTE, SOUND } from '../../export/places.mts';
import type { Serving } from '../../index/serving.mts';
import { ApiError } from '../../util/errors.mts';
import { dayBounds } from '../../util/times.mts';
import { type ZippedFile, zipOf } from '../../util/zip.mts';
import { closeStalled } from '../routes/audio.mts';

/** More than a day has. */
const MAX_OF_DAY = 10_000;

/**
 * Sends the lifelogs of a day as a zip.
 *
 * @param hasAudio Whether to include audio.
 * @throws ApiError (404) for a day without lifelogs.
 */
export function sendDay(
	serving: Serving,
	day: string,
	timezone: string,
	hasAudio: boolean,
	reply: FastifyReply,
): FastifyReply {
	const slice = { direction: 'asc' as const, limit: MAX_OF_DAY };
	const parts = { markdown: false, contents: false };
	const ids = serving
		.current()
		.listLifelogs(dayBounds(day, timezone), slice, parts)
		.map(({ id }) => id);
	if (ids.length === 0) throw new ApiError(404, 'This day has no lifelogs');
	closeStalled(reply);
	return reply
		.header('content-type', 'application/zip')
		.header('content-disposition', `attachment; filename="${day}.zip"`)
		.header('cache-control', 'private, no-store')
		.send(zipOf(filesOf(serving, ids, timezone, hasAudio)));
}

async function* filesOf(
	serving: Serving,
	ids: string[],
	timezone: string,
	hasAudio: boolean,
): AsyncGenerator<ZippedFile> {
	const names = new Map<string, string>();
	for (const id of ids) {
		const store = serving.current();
		const lifelog = store.getLifelog(id);
		// Deleted meanwhile.
		if (!lifelog) continue;
		const name = freeName(names, id, (nth) => nameOf(lifelog, timezone, nth));
		const audio = hasAudio ? await store.getAudioOf(lifelog) : undefined;
		const changedMs = changeOf(lifelog);
		if (audio) yield { path: name + SOUND, content: audio.read(0, audio.bytes), changedMs };
		const audioName = audio && name + SOUND;
		const { content } = writeLifelog(lifelog, 'markdown', timezone, audioName)!;
		yield { path: name + NOTE, content, changedMs };
	}
}

const changeOf = ({ updatedAt }: Lifelog) => Date.parse(updatedAt);
