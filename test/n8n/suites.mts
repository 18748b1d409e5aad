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
		name: 'busy-key',
		what: 'ten minutes at the rate limit, beside a trigger',
		versions: [NEWEST],
		programs: ['redis-server', 'pg_ctlcluster'],
	},
	{
		name: 'editor',
		what: 'the editor in light and dark, with its pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{ name: 'trigger', what: 'Lifelog Trigger: events, restarts, failures', versions: [NEWEST] },
	{ name: 'archive', what: 'examples: the archive of everything', versions: [OLDEST, NEWEST] },
	{
		name: 'archive-cases',
		what: 'examples: the archive where things go wrong',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'archive-command',
		what: 'the archive by the example and by lifelog-server archive in turns',
		versions: [NEWEST],
	},
	{
		name: 'archive-folder',
		what: 'examples: the folder of the archive, as imported',
		versions: [OLDEST, NEWEST],
	},
	{
		name: 'examples-canvas',
		what: 'examples: imported in the editor, with pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{
		name: 'server',
		what: 'lifelog-server over an archive of the service',
		versions: [NEWEST],
		needsInspector: true,
	},
	{
		name: 'examples-events',
		what: 'examples: chats and stars as events',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'examples-files',
		what: 'examples: audio to S3, files as they come',
		versions: [NEWEST],
		needsServices: true,
	},
	{ name: 'lifelog', what: 'Lifelog: operations, Export, errors, webhook', versions: [NEWEST] },
	{
		name: 'queue',
		what: 'queue mode: two workers on one rate limit',
		versions: [NEWEST],
		programs: ['redis-server', 'pg_ctlcluster'],
	},
	{
		name: 'examples-agent',
		what: 'examples: agents, also over MCP',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{ name: 'audio', what: 'Lifelog Audio: operations, errors, binary data', versions: [NEWEST] },
	{
		name: 'examples-summary',
		what: 'examples: summaries to Slack and Notion',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'key',
		what: 'where the key goes when n8n’s own nodes use it',
		versions: [OLDEST, NEWEST],
	},
	{ name: 'smoke', what: 'every node, and the trigger', versions: [OLDEST, NEWEST] },
	{
		name: 'examples-model',
		what: 'examples: a day read by a model, a search by a bot',
		versions: [NEWEST],
		needsServices: true,
	},
	{
		name: 'recordings',
		what: 'new lifelogs: from a webhook, a bot and a drive to the trigger, search and audio',
		versions: [NEWEST],
		programs: ['ffmpeg'],
		needsServices: true,
	},
	{ name: 'chat', what: 'Lifelog Chat: operations, errors', versions: [NEWEST] },
	{ name: 'dev', what: 'npm run dev', versions: [NEWEST] },
	{ name: 'agent', what: 'Lifelog as a tool of the AI Agent', versions: [NEWEST] },
	{ name: 'ssrf', what: 'n8n’s SSRF protection', versions: [NEWEST] },
	{ name: 'mcp', what: 'the MCP Client against the service', versions: [NEWEST] },
	{ name: 'credential', what: "the credential's test", versions: [NEWEST] },
];
