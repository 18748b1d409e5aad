import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Chat } from '../../../lifelog/api.ts';
import {
	chatJson,
	chatOutputOfItem,
	chatOutputParameters,
} from '../../shared/parameters/chatOutput';
import {
	directionOption,
	filtersOf,
	isScheduledFilter,
	limitParameters,
	maxWaitOption,
	optionsOf,
	promptIdFilter,
	timezoneOption,
} from '../../shared/parameters/descriptions';
import { hintOfNone } from '../../shared/errors/hints';
import { promptIdOf } from '../../shared/parameters/resourceLocator';
import { firstEntries, MAX_PAGE_SIZE } from '../../shared/transport/pagination';
import {
	readBoolean,
	readCollection,
	readDirection,
	readLimit,
	readZone,
} from '../../shared/parameters/read';

export const description: INodeProperties[] = [
	...limitParameters,
	...chatOutputParameters,
	filtersOf([promptIdFilter, isScheduledFilter]),
	optionsOf([directionOption, maxWaitOption, timezoneOption]),
];

/**
 * Lists chats, as many pages as it takes (specification, section 4.6).
 *
 * @returns One item per chat (`chatJson`), in the service's order.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const limit = readLimit(this, itemIndex);
	const output = chatOutputOfItem(this, itemIndex);
	const { isScheduled, globalPromptId } = readCollection(this, 'filters', itemIndex);
	const options = readCollection(this, 'options', itemIndex);
	const query = {
		timezone: readZone(this, options.timezone),
		direction: readDirection(this, options),
		isScheduled: readBoolean(this, isScheduled, 'Is Scheduled'),
		globalPromptId: promptIdOf(this, globalPromptId),
	};
	const listing = { name: 'chats' as const, query, pageSize: Math.min(limit, MAX_PAGE_SIZE) };
	const chats = await firstEntries<Chat>(api, listing, limit);
	if (chats.length === 0) hintOfNone(api, { noun: nameOf(query) });
	return chats.map((chat) => ({ json: chatJson(chat, output) }));
}

function nameOf({
	isScheduled,
	globalPromptId,
}: {
	isScheduled?: boolean;
	globalPromptId?: string;
}) {
	const kind = isScheduled === undefined ? '' : isScheduled ? 'scheduled ' : 'unscheduled ';
	return `${kind}chats${globalPromptId ? ` of the prompt "${globalPromptId}"` : ''}`;
}
