// Which folder may import what. Imports of types count as others do: what a file cannot be read
// without, it depends on.
/** They stand in a .d.ts, which TypeScript finds by this name and Node.js never loads. */
const API_TYPES = '(lifelog|^\\.\\.?)/api\\.(d\\.)?ts$';
const TOOLS = 'bench|docs|examples|test';
/** A folder of this repository, also as it is written where no file is found. */
const below = (folders) => `^(\\.\\./)*(${folders})/`;

// Each folder imports only those before it.
const SHARED = 'auth errors transport api content parameters execution'.split(' ');
const COMMANDS = '(backup|events|export|import|recordings)';
const SERVER = ['util', 'audio', 'archive', 'index', COMMANDS, 'http', '(cli|sandbox)'];
const inOrder = (parent, folders) =>
	folders.slice(0, -1).map((folder, nth) => ({
		name: `${parent}/${folder}`,
		comment: `The folders of ${parent}, from the bottom: ${folders.join(', ')}.`,
		severity: 'error',
		from: { path: below(`${parent}/${folder}`) },
		to: { path: below(`${parent}/(${folders.slice(nth + 1).join('|')})`) },
	}));

/** Named after the command that the package installs. */
const COMMAND = 'lifelog-server\\.cjs$';
const HYPHENATED = '^(nodes|server|test/support)/.*-[^/]*$';
const inCamelCase = (from, to) => ({
	name: `camel-case-${from.path ? 'from' : 'to'}`,
	comment: 'File names are in camel case, without hyphens.',
	severity: 'error',
	from,
	to,
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
	forbidden: [
		// Every file imports another or is imported.
		inCamelCase({ path: HYPHENATED, pathNot: COMMAND }, {}),
		inCamelCase({}, { path: HYPHENATED, pathNot: COMMAND }),
		{
			name: 'no-circles',
			comment: 'What depends on each other is one thing: say which of the two is below.',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		{
			name: 'nothing-unseen',
			comment: 'What is not found here is not checked by the other rules.',
			severity: 'error',
			from: {},
			// n8n's own nodes are those of the n8n that the tests install.
			to: { couldNotResolve: true, pathNot: [API_TYPES, '^n8n-nodes-base/', '/package\\.json$'] },
		},
		{
			name: 'lifelog-pure',
			comment:
				'What a lifelog is, for nodes, server and page alike: nothing of n8n, Node.js or a server.',
			severity: 'error',
			from: { path: below('lifelog') },
			to: { pathNot: [below('lifelog'), API_TYPES, '^node_modules/luxon/'] },
		},
		{
			name: 'package-alone',
			comment:
				'The package for n8n stands on what n8n supplies, and on no tool of this repository.',
			severity: 'error',
			from: { path: below('nodes|credentials') },
			to: {
				pathNot: [
					below('nodes|credentials|lifelog'),
					'^node_modules/(n8n-workflow|luxon)/',
					'^crypto$',
				],
			},
		},
		{
			name: 'shared-below-nodes',
			comment: 'nodes/shared is about the service: it knows no node.',
			severity: 'error',
			from: { path: below('nodes/shared|credentials') },
			to: { path: below('nodes'), pathNot: below('nodes/shared') },
		},
		...inOrder('nodes/shared', SHARED),
		{
			name: 'nodes-apart',
			comment: 'What two nodes need stands in nodes/shared.',
			severity: 'error',
			from: { path: '^nodes/([^/]+)/', pathNot: below('nodes/shared') },
			to: { path: below('nodes'), pathNot: [below('nodes/shared'), '^nodes/$1/'] },
		},
		...inOrder('nodes/LifelogTrigger', ['engine', '(lifelogs|chats)']),
		{
			name: 'server-alone',
			comment: 'lifelog-server is the service itself; it knows no node.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/page') },
			to: { path: [below(`nodes|credentials|${TOOLS}`), below('server/page'), '(^|/)n8n-'] },
		},
		...inOrder('server', SERVER),
		{
			name: 'sandbox-above-server',
			comment: 'The sandbox is invented data for the server, which knows nothing of it.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/sandbox') },
			to: { path: below('server/sandbox') },
		},
		{
			name: 'page-apart',
			comment:
				'The page runs in a browser. It shares with the others what a lifelog is, and with the server the types of what it is answered.',
			severity: 'error',
			from: { path: below('server/page/src') },
			to: {
				path: below(`nodes|credentials|server|${TOOLS}`),
				pathNot: below('server/page/src'),
				dependencyTypesNot: ['type-only'],
			},
		},
		{
			name: 'page-types-of-http',
			comment: 'The page knows of the server only what it is answered.',
			severity: 'error',
			from: { path: below('server/page/src') },
			to: { path: below('server'), pathNot: below('server/(page/src|http)') },
		},
		{
			name: 'server-without-n8n',
			comment: 'lifelog-server needs what server/package.json names, and nothing of n8n.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/(page|sandbox)') },
			to: { path: 'node_modules/', dependencyTypesNot: ['npm'] },
		},
		{
			name: 'one-writer',
			comment: 'Everything that changes an archive goes through changeDays.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/archive') },
			to: { path: below('server/archive') + 'commit\\.' },
		},
		{
			name: 'check-by-command',
			comment: 'lifelog-server check starts the check. Nothing else of the server knows it.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/(check|cli)') },
			to: { path: below('server/check') },
		},
		{
			name: 'archive-checked-alone',
			comment:
				'What checks an archive shares no code about its format with anything that writes one: only how a service is asked.',
			severity: 'error',
			from: { path: below('server/check') },
			to: {
				path: [below(`nodes|credentials|lifelog|server|${TOOLS}`), '(^|/)n8n-'],
				pathNot: [below('server/check'), below('lifelog') + '(addresses|paging|retryAfter|api)\\.'],
			},
		},
	],
	options: {
		tsPreCompilationDeps: true,
		exclude: { path: '^(\\./|server/|server/page/)?dist/' },
		doNotFollow: { path: 'node_modules' },
		enhancedResolveOptions: {
			exportsFields: ['exports'],
			conditionNames: ['import', 'require', 'node', 'default', 'types'],
		},
	},
};
