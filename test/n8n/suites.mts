import { NEWEST, OLDEST } from './install.mts';

/** A file of tests in `suites/`, each with the servers it needs of its own. */
export interface Suite {
	/** Name of the file, without `.mts`. */
	name: string;
	/** What it shows. */
	what: string;
	/** The versions of n8n it starts. */
	versions: string[];
	/** System programs it needs beside Node.js. */
	programs?: string[];
	/** Whether it needs what `services/` has. */
	needsServices?: true;
	/** Whether it needs what `inspector/` has. */
	needsInspector?: true;
}

/** What `npm run test:n8n` runs, in this order: the longest first, so that all workers end together. */
export const suites: Suite[] = [
	{
		name: 'editor',
		what: 'the editor, with its pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{ name: 'trigger', what: 'Lifelog Trigger: events, restarts, failures', versions: [NEWEST] },
	{
		name: 'archive-cases',
		what: 'examples: the archive where things go wrong',
		versions: [NEWEST],
		needsServices: true,
	},
	{ name: 'archive', what: 'examples: the archive of everything', versions: [NEWEST] },
	{
		name: 'archive-command',
		what: 'the archive by the example and by lifelog-server archive in turns',
		versions: [NEWEST],
	},
	{
		name: 'server',
		what: 'lifelog-server over an archive of the service',
		versions: [NEWEST],
		needsInspector: true,
	},
	{
		name: 'queue',
		what: 'queue mode: two workers and a trigger on one rate limit',
		versions: [NEWEST],
		programs: ['redis-server', 'pg_ctlcluster'],
	},
	{
		name: 'examples-canvas',
		what: 'examples: imported in the editor, with pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{
		name: 'events',
		what: 'Lifelog Server Trigger: events, tests, copies, restarts, wrong addresses',
		versions: [OLDEST, NEWEST],
		needsServices: true,
	},
	{ name: 'smoke', what: 'every node, the trigger, webhooks, lists', versions: [OLDEST, NEWEST] },
	{
		name: 'examples-events',
		what: 'examples: chats and stars as events',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'examples-agent',
		what: 'examples: agents, also over MCP',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{
		name: 'recordings',
		what: 'new lifelogs: from a webhook, a bot and a drive to the trigger, search and audio',
		versions: [NEWEST],
		programs: ['ffmpeg'],
		needsServices: true,
	},
	{
		name: 'archive-folder',
		what: 'examples: the folder of the archive, as imported',
		versions: [OLDEST, NEWEST],
	},
	{
		name: 'examples-files',
		what: 'examples: audio to S3, files as they come',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'key',
		what: 'where the key goes when n8n’s own nodes use it',
		versions: [OLDEST, NEWEST],
	},
	{ name: 'dev', what: 'npm run dev', versions: [NEWEST] },
	{
		name: 'agent',
		what: 'Lifelog as a tool of the AI Agent, and the MCP Client',
		versions: [NEWEST],
	},
	{
		name: 'examples-model',
		what: 'examples: a day read by a model, a search by a bot',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'examples-summary',
		what: 'examples: summaries to Slack and Notion',
		versions: [NEWEST],
		needsServices: true,
	},
];
