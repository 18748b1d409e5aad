import { z } from 'zod';
import { listOffset, MAX_ENTRIES, optional, pageOf, pastTheEnd, toolOf } from './mcpTool.mts';
import { SORTS, sortedPeople } from './people.mts';

export const listPeopleTool = toolOf(
	'list_people',
	'Lists the people who are named in the recorded conversations (lifelogs). Returns the name, other names, how many lifelogs and milliseconds each speaks in, and when they were heard first and last.',
	{
		search: optional(z.string().max(200)).describe('A part of one of the names'),
		sort: optional(z.enum(SORTS)).describe(
			'Those heard last first (lastHeard, default), those in most lifelogs first, or by name',
		),
		offset: listOffset,
	},
	(service, { search, sort = 'lastHeard', offset }) => {
		const found = sortedPeople(service.maker!.current().people.all(), { search, sort });
		const page = found.slice(offset, offset + MAX_ENTRIES + 1);
		if (page.length > 0) return [pageOf('people', offset, page)];
		if (offset > 0) return [pastTheEnd(offset)];
		return [
			search === undefined
				? 'Nobody is named in a lifelog.'
				: 'Nobody is called so. Try a shorter part of the name.',
		];
	},
);
