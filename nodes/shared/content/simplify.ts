import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../api/apiTypes';
import { contentNodes } from './utterances';
import { durationOf } from '../util/dateTimes';
import { excerptOf } from './excerpt';
import { secondLevelHeadings } from './headings';
import { speakersOf } from './speakers';
import { textOrNull } from '../util/text';

/**
 * A lifelog as ten fields, flat and short, for those who choose among many, people or models.
 * What the service does not tell is null.
 *
 * @param zone In which a time without offset is read.
 * @param query What was searched for, if anything: the excerpt is taken from around it.
 * @returns `id`, `title`, `startTime`, `endTime`, `durationMs`, `isStarred`, `updatedAt`, `speakers`
 *   (names, `user` for a wearer without one; absent where no contents came), `headings` (of the
 *   second level) and `excerpt` ({@link excerptOf}).
 */
export function simplifyLifelog(lifelog: Lifelog, zone: string, query?: string): IDataObject {
	const hasContents = contentNodes(lifelog.contents).next().done !== true;
	return {
		id: lifelog.id,
		title: textOrNull(lifelog.title),
		startTime: textOrNull(lifelog.startTime),
		endTime: textOrNull(lifelog.endTime),
		durationMs: durationOf(lifelog, zone) ?? null,
		isStarred: lifelog.isStarred === true,
		updatedAt: textOrNull(lifelog.updatedAt),
		...(hasContents && { speakers: speakersOf(lifelog).speakers }),
		headings: secondLevelHeadings(lifelog),
		excerpt: excerptOf(lifelog, query),
	};
}
