import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { excerptOf } from './excerpt';
import { contentNodes, secondLevelHeadings, speakersOf } from '../../../lifelog/contents.ts';
import { textOrNull } from '../../../lifelog/text.ts';

/**
 * A lifelog in eight short fields: with the trigger's own, n8n's ten. What the service doesn't send is null.
 *
 * @param query What the excerpt is about.
 * @returns `speakers` are names, `user` for a wearer without one; absent without contents. `headings`
 *   are those of the second level.
 */
export function simplifyLifelog(lifelog: Lifelog, query?: string): IDataObject {
	const hasContents = contentNodes(lifelog.contents).next().done !== true;
	return {
		id: lifelog.id,
		title: textOrNull(lifelog.title),
		startTime: textOrNull(lifelog.startTime),
		endTime: textOrNull(lifelog.endTime),
		isStarred: lifelog.isStarred === true,
		...(hasContents && { speakers: speakersOf(lifelog).speakers }),
		headings: secondLevelHeadings(lifelog),
		excerpt: excerptOf(lifelog, query),
	};
}
