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
}

/** What `npm run test:n8n` runs, in this order. */
export const suites: Suite[] = [
	{ name: 'smoke', what: 'every node, and the trigger', versions: [OLDEST, NEWEST] },
	{ name: 'credential', what: "the credential's test", versions: [NEWEST] },
	{
		name: 'key',
		what: 'where the key goes when n8n’s own nodes use it',
		versions: [OLDEST, NEWEST],
	},
	{ name: 'ssrf', what: 'n8n’s SSRF protection', versions: [NEWEST] },
	{ name: 'lifelog', what: 'Lifelog: operations, Export, errors, webhook', versions: [NEWEST] },
	{ name: 'chat', what: 'Lifelog Chat: operations, errors', versions: [NEWEST] },
	{ name: 'audio', what: 'Lifelog Audio: operations, errors, binary data', versions: [NEWEST] },
	{ name: 'trigger', what: 'Lifelog Trigger: events, restarts, failures', versions: [NEWEST] },
	{ name: 'dev', what: 'npm run dev', versions: [NEWEST] },
	{
		name: 'editor',
		what: 'the editor in a browser, with its pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{ name: 'agent', what: 'Lifelog as a tool of the AI Agent', versions: [NEWEST] },
	{ name: 'mcp', what: 'the MCP Client against the service', versions: [NEWEST] },
	{ name: 'examples-summary', what: 'examples: summaries to Slack and Notion', versions: [NEWEST] },
	{
		name: 'examples-files',
		what: 'examples: audio to S3, files as they come',
		versions: [NEWEST],
	},
	{ name: 'archive', what: 'examples: the archive of everything', versions: [OLDEST, NEWEST] },
	{ name: 'examples-events', what: 'examples: chats and stars as events', versions: [NEWEST] },
	{
		name: 'examples-model',
		what: 'examples: a day read by a model, a search by a bot',
		versions: [NEWEST],
	},
	{
		name: 'examples-agent',
		what: 'examples: agents, also over MCP',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{
		name: 'examples-canvas',
		what: 'examples: imported in the editor, with pictures',
		versions: [NEWEST],
		programs: ['chromium'],
	},
	{
		name: 'queue',
		what: 'queue mode: two workers on one rate limit',
		versions: [NEWEST],
		programs: ['redis-server', 'pg_ctlcluster'],
	},
];
