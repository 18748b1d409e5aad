import { DateTime } from 'luxon';

import type { Lifelog } from '../api.ts';
import { contentNodes, transcriptText, utterances } from '../contents.ts';
import { instantOf } from '../times.ts';
import { appExport } from './appExport.ts';
import { lifelogMarkdown } from './markdown.ts';
import { piecesOf } from './spoken.ts';
import { toSrt, toVtt } from './subtitles.ts';

/** What a lifelog can be written as; the values of the parameter File Formats. */
export type FileFormat = 'appExport' | 'json' | 'markdown' | 'srt' | 'text' | 'vtt';

export interface LifelogFile {
	/** With its point. */
	extension: string;
	mimeType: string;
	content: string;
	/** When the lifelog begins, epoch ms. */
	startMs: number;
}

const KINDS: Record<FileFormat, { extension: string; mimeType: string }> = {
	appExport: { extension: '.md', mimeType: 'text/markdown' },
	json: { extension: '.json', mimeType: 'application/json' },
	markdown: { extension: '.md', mimeType: 'text/markdown' },
	srt: { extension: '.srt', mimeType: 'application/x-subrip' },
	text: { extension: '.txt', mimeType: 'text/plain' },
	vtt: { extension: '.vtt', mimeType: 'text/vtt' },
};

export const FILE_FORMATS = Object.keys(KINDS) as FileFormat[];

/**
 * @param lifelog With contents.
 * @param zone Of times in the text of Markdown, and of the lifelog's times without offset.
 * @param audio The name of the file with its audio, which Markdown links to.
 * @returns undefined if its start can't be read, so that it has no place in an archive.
 */
export function writeLifelog(
	lifelog: Lifelog,
	format: FileFormat,
	zone: string,
	audio?: string,
): LifelogFile | undefined {
	const startMs = instantOf(lifelog.startTime, zone);
	if (startMs === undefined) return undefined;
	const pieces = () => piecesOf(lifelog, zone);
	const content = {
		appExport: () => appExport(lifelog, pieces(), startMs),
		json: () => toJson(lifelog),
		markdown: () => lifelogMarkdown(lifelog, pieces(), startMs, zone, audio),
		srt: () => toSrt(pieces()),
		text: () => `${transcriptText(utterances(lifelog))}\n`,
		vtt: () => toVtt(pieces()),
	}[format]();
	return { ...KINDS[format], content, startMs };
}

/** JSON as an archive has it. */
export function toJson(value: object): string {
	return `${JSON.stringify(value, null, '\t')}\n`;
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
