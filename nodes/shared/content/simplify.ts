import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { durationOf } from '../../../lifelog/times.ts';
import { excerptOf } from './excerpt';
import { contentNodes, secondLevelHeadings, speakersOf } from '../../../lifelog/contents.ts';
import { textOrNull } from '../../../lifelog/text.ts';

/**
 * A lifelog in ten short fields. What the service doesn't send is null.
 *
 * @param zone Of times without offset.
 * @param query What the excerpt is about.
 * @returns `speakers` are names, `user` for a wearer without one; absent without contents. `headings`
 *   are those of the second level.
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
