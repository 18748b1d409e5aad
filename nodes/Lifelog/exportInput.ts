import type { IExecuteFunctions } from 'n8n-workflow';

import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes } from '../../lifelog/contents.ts';
import { isId, isSafePathSegment } from '../../lifelog/names.ts';
import { inputError } from '../shared/errors/nodeErrors';

/** Fields of the trigger and other operations, which the API doesn't have. */
const BESIDE_THE_API = ['changeType', 'eventKey', 'incomplete'];
/** Fields that only simplified or selected output has. */
const OF_A_PART = ['durationMs', 'speakers', 'headings', 'excerpt', 'isTruncated'];
/** Fields that the API's object always has. */
const OF_THE_WHOLE = ['title', 'startTime', 'endTime', 'isStarred', 'updatedAt'];

/** The lifelog in the JSON of the input, without what the nodes add. */
export function inputLifelog(context: IExecuteFunctions, itemIndex: number): Lifelog {
	const json = { ...context.getInputData()[itemIndex].json };
	if (!isId(json.id)) {
		throw inputError(
			context,
			'The input is not a lifelog: it has no ID',
			"Connect the Lifelog Trigger or Get Many Lifelogs, or choose another 'Export From'.",
		);
	}
	for (const name of BESIDE_THE_API) delete json[name];
	return json as unknown as Lifelog;
}

/** The ID of the input, safe as one segment of a path. */
export function idOfInput(context: IExecuteFunctions, { id }: Lifelog): string {
	if (isSafePathSegment(id)) return id;
	throw inputError(
		context,
		`"${id}" is not the ID of a lifelog`,
		"Use the field id that a list or a search returns, or choose another 'Export From'. Nothing was sent.",
	);
}

/**
 * Whether the input is the API's object with contents, not some of its fields. A title is the first
 * heading, so contents without headings are incomplete (specification, sections 2.1 and 4.2).
 */
export function isWhole(lifelog: Lifelog): boolean {
	const nodes = [...contentNodes(lifelog.contents)];
	const hasHeadings = nodes.some(
		({ type }) => typeof type === 'string' && type.startsWith('heading'),
	);
	const isPart =
		OF_A_PART.some((name) => name in lifelog) || OF_THE_WHOLE.some((name) => !(name in lifelog));
	return hasHeadings && typeof lifelog.markdown === 'string' && !isPart;
}
