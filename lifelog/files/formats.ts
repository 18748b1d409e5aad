import { DateTime } from 'luxon';

import type { Lifelog } from '../api.ts';
import { contentNodes, transcriptText, utterances } from '../contents.ts';
import { instantOf } from '../times.ts';
import { lifelogMarkdown } from './markdown.ts';
import { piecesOf } from './spoken.ts';
import { toSrt, toVtt } from './subtitles.ts';

/** What a lifelog can be written as; the values of the parameter File Formats. */
export type FileFormat = 'json' | 'markdown' | 'srt' | 'text' | 'vtt';

export interface LifelogFile {
	/** Its place in an archive (`docs/reference/archive.md`): `lifelogs/2026/03/01/2026-03-01_08h00m00s_<id>.md`. */
	path: string;
	mimeType: string;
	content: string;
}

const KINDS: Record<FileFormat, { extension: string; mimeType: string }> = {
	json: { extension: 'json', mimeType: 'application/json' },
	markdown: { extension: 'md', mimeType: 'text/markdown' },
	srt: { extension: 'srt', mimeType: 'application/x-subrip' },
	text: { extension: 'txt', mimeType: 'text/plain' },
	vtt: { extension: 'vtt', mimeType: 'text/vtt' },
};

export const FILE_FORMATS = Object.keys(KINDS) as FileFormat[];

/**
 * @param lifelog With contents, its times in `zone`.
 * @returns undefined if its start can't be read, so that it has no place in an archive.
 */
export function writeLifelog(
	lifelog: Lifelog,
	format: FileFormat,
	zone: string,
): LifelogFile | undefined {
	const begin = instantOf(lifelog.startTime, zone);
	if (begin === undefined) return undefined;
	const pieces = piecesOf(lifelog, zone);
	const content = {
		json: () => `${JSON.stringify(lifelog, null, '\t')}\n`,
		markdown: () => lifelogMarkdown(lifelog, pieces, begin),
		srt: () => toSrt(pieces),
		text: () => `${transcriptText(utterances(lifelog))}\n`,
		vtt: () => toVtt(pieces),
	}[format]();
	const { extension, mimeType } = KINDS[format];
	return { path: archivePath(lifelog.id, begin, extension), mimeType, content };
}

/** A copy of a lifelog with its times in `zone`. @param askedIn The zone of times without offset. */
export function inZone(lifelog: Lifelog, askedIn: string, zone: string): Lifelog {
	const copy = structuredClone(lifelog);
	const move = (holder: object) => {
		const times = holder as Record<string, unknown>;
		for (const name of ['startTime', 'endTime', 'updatedAt']) {
			const instant = instantOf(times[name], askedIn);
			if (instant !== undefined) times[name] = DateTime.fromMillis(instant, { zone }).toISO();
		}
	};
	move(copy);
	for (const node of contentNodes(copy.contents)) move(node);
	return copy;
}

function archivePath(id: string, start: number, extension: string): string {
	const begin = DateTime.fromMillis(start, { zone: 'utc' });
	const name = `${begin.toFormat("yyyy-MM-dd_HH'h'mm'm'ss's'")}_${fileNameOf(id)}.${extension}`;
	return `lifelogs/${begin.toFormat('yyyy/MM/dd')}/${name}`;
}

/** An ID in a file's name: a character that some systems refuse is written as `%XX`. */
function fileNameOf(id: string): string {
	const escape = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	return encodeURIComponent(id).replace(/[.!~*'()]/g, escape);
}
