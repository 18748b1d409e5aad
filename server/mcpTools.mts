import type { ContentNode } from '../nodes/shared/api/apiTypes.ts';
import { getChat } from './chats.mts';
import { renderMarkdown } from './lifelogView.mts';
import { getLifelog, listLifelogs } from './lifelogs.mts';
import type { Tool } from './service.mts';
import { checkDate, checkZone, dayBounds, zoneFormatter } from './times.mts';

const timezone = {
	type: 'string',
	description: 'IANA time zone in which times are given, e.g. Europe/Berlin; UTC when missing',
};
// More than anybody can record in a day.
const mostOfDay = 1000;

export const searchLifelogs: Tool = {
	name: 'search_lifelogs',
	description: 'Searches the recorded conversations; returns id, title and time, best match first.',
	inputSchema: {
		type: 'object',
		properties: {
			query: { type: 'string', description: 'Words; OR between alternatives' },
			limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
		},
		required: ['query'],
	},
	async call(service, { query, limit = 10 }) {
		const search = textOf('query', query);
		if (!Number.isInteger(Number(limit)) || Number(limit) < 1) {
			throw new Error('limit must be a whole number from 1 on');
		}
		const wanted = { search, limit: Number(limit), includeContents: false, includeMarkdown: false };
		return overviewOf((await listLifelogs(service, wanted)).data.lifelogs);
	},
};

export const getLifelogTool: Tool = {
	name: 'get_lifelog',
	description: 'Returns one recorded conversation as markdown.',
	inputSchema: {
		type: 'object',
		properties: { id: { type: 'string', description: 'An id that search_lifelogs returned' } },
		required: ['id'],
	},
	call(service, { id }) {
		const { lifelog } = getLifelog(service, textOf('id', id), { includeContents: true }).data;
		if (!lifelog) return 'Lifelog not found';
		return lifelog.markdown ?? renderMarkdown(lifelog.contents);
	},
};

const listLifelogsTool: Tool = {
	name: 'list_lifelogs',
	description: 'Lists the recorded conversations of a day, in order; returns id, title and time.',
	inputSchema: {
		type: 'object',
		properties: { date: { type: 'string', description: 'YYYY-MM-DD' }, timezone },
		required: ['date'],
	},
	call({ store }, args) {
		const zone = checkZone(optionalText('timezone', args.timezone));
		const bounds = dayBounds(checkDate(textOf('date', args.date)), zone);
		const format = zoneFormatter(zone);
		const slice = { direction: 'asc', limit: mostOfDay } as const;
		const found = store.listLifelogs(bounds, slice, { markdown: false, contents: false });
		return overviewOf(
			found.map((lifelog) => ({
				...lifelog,
				startTime: format(lifelog.startTime),
				endTime: format(lifelog.endTime),
			})),
		);
	},
};

const getTranscript: Tool = {
	name: 'get_transcript',
	description:
		'Returns what was said in a recorded conversation, line by line with time and speaker.',
	inputSchema: {
		type: 'object',
		properties: {
			id: { type: 'string', description: 'An id that search_lifelogs or list_lifelogs returned' },
			timezone,
		},
		required: ['id'],
	},
	call(service, args) {
		const zone = optionalText('timezone', args.timezone);
		const query = { timezone: zone, includeContents: true, includeMarkdown: false };
		const { data } = getLifelog(service, textOf('id', args.id), query);
		return data.lifelog ? data.lifelog.contents.flatMap(linesOf).join('\n') : 'Lifelog not found';
	},
};

const getChatTool: Tool = {
	name: 'get_chat',
	description: "Returns a chat with the service's assistant, message by message.",
	inputSchema: {
		type: 'object',
		properties: { id: { type: 'string', description: 'The id of a chat' }, timezone },
		required: ['id'],
	},
	call(service, args) {
		const zone = optionalText('timezone', args.timezone);
		const { data } = getChat(service, textOf('id', args.id), zone);
		if (!data.chat) return 'Chat not found';
		const lines = data.chat.messages
			.filter(({ text }) => text)
			.map(({ createdAt, user, text }) => `[${createdAt}] ${user?.role ?? 'unknown'}: ${text}`);
		return [data.chat.summary ?? '', ...lines].filter((line) => line !== '').join('\n\n');
	},
};

/** All tools that there are. */
export const allTools: Tool[] = [
	searchLifelogs,
	listLifelogsTool,
	getLifelogTool,
	getTranscript,
	getChatTool,
];

function textOf(name: string, value: unknown): string {
	if (typeof value !== 'string') throw new Error(`${name} must be a string`);
	return value;
}

function optionalText(name: string, value: unknown): string | undefined {
	return value === undefined ? undefined : textOf(name, value);
}

interface Overview {
	id: string;
	title: string;
	startTime: string;
	endTime: string;
}

function overviewOf(lifelogs: Overview[]): string {
	const shown = lifelogs.map(({ id, title, startTime, endTime }) => ({
		id,
		title,
		startTime,
		endTime,
	}));
	return JSON.stringify(shown, null, 2);
}

function linesOf({ type, content, startTime, speakerName, children = [] }: ContentNode): string[] {
	const time = startTime ? `[${startTime}] ` : '';
	const own = type === 'blockquote' ? [`${time}${speakerName ?? 'Unknown'}: ${content}`] : [];
	return [...own, ...children.flatMap(linesOf)];
}
