import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import type { Api } from '../../shared/auth/connection';
import { hintOfNone } from '../../shared/errors/hints';
import { chatJson, chatOutputParameters, readChatOutput } from '../../shared/parameters/chatOutput';
import {
	directionOption,
	filtersOf,
	isScheduledFilter,
	limitParameters,
	optionsOf,
	promptIdFilter,
	readLimit,
	readPromptId,
} from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import { readBoolean, readChoiceIfSet, readCollection } from '../../shared/parameters/read';
import { readZone, timezoneOption } from '../../shared/parameters/times';
import { mapFirstEntries, MAX_PAGE_SIZE } from '../../shared/transport/pagination';

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
	const output = readChatOutput(this, itemIndex);
	const filters = readCollection(this, 'filters', itemIndex);
	const options = readCollection(this, 'options', itemIndex);
	const isScheduled = readBoolean(this, isScheduledFilter, filters);
	const globalPromptId = readPromptId(this, filters);
	const query = {
		timezone: readZone(this, options),
		direction: readChoiceIfSet(this, directionOption, options),
		isScheduled,
		globalPromptId,
	};
	const listing = { name: 'chats' as const, query, pageSize: Math.min(limit, MAX_PAGE_SIZE) };
	const toItem = (chat: Chat) => ({ json: chatJson(chat, output) });
	const items = await mapFirstEntries(api, listing, limit, toItem);
	if (items.length === 0) hintOfNone(api, { noun: nameOf(isScheduled, globalPromptId) });
	return items;
}

function nameOf(isScheduled: boolean | undefined, promptId: string | undefined): string {
	const ofPrompt = promptId === undefined ? '' : ` of the prompt "${promptId}"`;
	if (isScheduled === undefined) return `chats${ofPrompt}`;
	return `${isScheduled ? 'scheduled' : 'unscheduled'} chats${ofPrompt}`;
}
