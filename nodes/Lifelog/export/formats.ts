import type { Lifelog } from '../../shared/api/apiTypes';
import { transcriptText, utterances } from '../../shared/content/utterances';
import { toMarkdown } from './markdown';
import { archivePath } from './path';
import { piecesOf } from './spoken';
import { toSrt, toVtt } from './subtitles';
import { isoInstant } from './times';

/** What a lifelog can be written as; the values of the parameter File Formats. */
export type FileFormat = 'json' | 'markdown' | 'srt' | 'text' | 'vtt';

/** A file, not yet stored. */
export interface LifelogFile {
	/** Its place in an archive; see {@link archivePath}. */
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

/** Every {@link FileFormat}. */
export const FILE_FORMATS = Object.keys(KINDS) as FileFormat[];

/**
 * Writes a lifelog as a file.
 *
 * @param lifelog With contents, its times in `zone`.
 * @returns undefined where its start cannot be read, so that it has no place in time.
 */
export function writeLifelog(
	lifelog: Lifelog,
	format: FileFormat,
	zone: string,
): LifelogFile | undefined {
	const begin = isoInstant(lifelog.startTime, zone);
	if (begin === undefined) return undefined;
	const pieces = piecesOf(lifelog, zone);
	const content = {
		json: () => `${JSON.stringify(lifelog, null, '\t')}\n`,
		markdown: () => toMarkdown(lifelog, pieces, begin),
		srt: () => toSrt(pieces),
		text: () => `${transcriptText(utterances(lifelog))}\n`,
		vtt: () => toVtt(pieces),
	}[format]();
	const { extension, mimeType } = KINDS[format];
	return { path: archivePath(lifelog.id, begin, extension), mimeType, content };
}
