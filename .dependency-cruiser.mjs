// Which folder may import what. Imports of types count as others do: what a file cannot be read
// without, it depends on.
const API_TYPES = 'nodes/shared/api/apiTypes\\.(d\\.)?ts$';
const CHECK_COMMAND = '^check-archive/command\\.mts$';
const TOOLS = 'bench|check-archive|demo|examples|test';
/** A folder of this repository, also as it is written where no file is found. */
const below = (folders) => `^(\\.\\./)*(${folders})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
	forbidden: [
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
			// They stand in a .d.ts, which TypeScript finds by this name and Node.js never loads.
			// n8n's own nodes are those of the n8n that the tests install.
			to: { couldNotResolve: true, pathNot: [API_TYPES, '^n8n-nodes-base/', '/package\\.json$'] },
		},
		{
			name: 'package-alone',
			comment:
				'The package for n8n stands on what n8n supplies, and on no tool of this repository.',
			severity: 'error',
			from: { path: below('nodes|credentials') },
			to: {
				pathNot: [below('nodes|credentials'), '^node_modules/(n8n-workflow|luxon)/', '^crypto$'],
			},
		},
		{
			name: 'shared-below-nodes',
			comment: 'nodes/shared is about the service: it knows no node.',
			severity: 'error',
			from: { path: below('nodes/shared|credentials') },
			to: { path: below('nodes'), pathNot: below('nodes/shared') },
		},
		{
			name: 'util-alone',
			comment: 'nodes/shared/util imports nothing of this package.',
			severity: 'error',
			from: { path: below('nodes/shared/util') },
			to: { path: below('nodes'), pathNot: below('nodes/shared/util') },
		},
		{
			name: 'transport-below-parameters',
			comment: 'What the API has, requests and errors know nothing of parameters and items.',
			severity: 'error',
			from: { path: below('nodes/shared/(api|transport|auth|errors|content)') },
			to: { path: below('nodes/shared/(parameters|execution)') },
		},
		{
			name: 'nodes-apart',
			comment: 'What two nodes need stands in nodes/shared.',
			severity: 'error',
			from: { path: '^nodes/([^/]+)/', pathNot: below('nodes/shared') },
			to: { path: below('nodes'), pathNot: [below('nodes/shared'), '^nodes/$1/'] },
		},
		{
			name: 'server-alone',
			comment:
				'lifelog-server is the service itself; of the nodes it has the types of the contract.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/web') },
			to: {
				path: [below(`nodes|credentials|sandbox|${TOOLS}`), below('server/web')],
				pathNot: [API_TYPES, CHECK_COMMAND],
			},
		},
		{
			name: 'web-on-pure-functions',
			comment:
				'The page runs in a browser: of the nodes it has what makes text of lifelogs, of the server nothing.',
			severity: 'error',
			from: { path: below('server/web/src') },
			to: {
				path: below(`nodes|credentials|server|sandbox|${TOOLS}`),
				pathNot: [
					API_TYPES,
					below('server/web/src'),
					below('nodes/Lifelog/(summary|export)'),
					below('nodes/shared/(content|util)'),
				],
			},
		},
		{
			name: 'server-util-alone',
			comment: 'server/util and server/auth import nothing of the server.',
			severity: 'error',
			from: { path: below('server/(util|auth)') },
			to: { path: below('server'), pathNot: below('server/(util|auth)') },
		},
		{
			name: 'routes-above-store',
			comment: 'Routes answer from a store. They know no archive, and nothing below knows a route.',
			severity: 'error',
			from: { path: below('server/routes') },
			to: { path: below('server/(archive|archiver|audio|import)') },
		},
		{
			name: 'routes-on-top',
			comment: 'The archive, its index and its commands know no route.',
			severity: 'error',
			from: { path: below('server/(archive|archiver|audio|import|recordings|search|store)') },
			to: { path: below('server/routes') },
		},
		{
			name: 'archive-below-commands',
			comment: 'The archive and its index know none of the commands that write one.',
			severity: 'error',
			from: { path: below('server/(archive|audio|search|store)') },
			to: { path: below('server/(archiver|import)') },
		},
		{
			name: 'check-by-command',
			comment: 'lifelog-server check starts check-archive. Nothing else of the server knows it.',
			severity: 'error',
			from: { path: below('server'), pathNot: '^server/main\\.mts$' },
			to: { path: below('check-archive') },
		},
		{
			name: 'server-without-n8n',
			comment: 'lifelog-server needs what server/package.json names, and nothing of n8n.',
			severity: 'error',
			from: { path: below('server'), pathNot: below('server/web') },
			to: { path: 'node_modules/', dependencyTypesNot: ['npm'] },
		},
		{
			name: 'sandbox-on-server',
			comment: 'The sandbox is invented data for the server; it knows no node and no test.',
			severity: 'error',
			from: { path: below('sandbox') },
			to: { path: [below(`nodes|credentials|${TOOLS}`), '(^|/)n8n-'], pathNot: API_TYPES },
		},
		{
			name: 'archive-checked-alone',
			comment: 'What checks an archive shares no code with anything that writes one.',
			severity: 'error',
			from: { path: below('check-archive') },
			to: {
				path: [below('nodes|credentials|server|sandbox|bench|demo|examples|test'), '(^|/)n8n-'],
			},
		},
	],
	options: {
		tsPreCompilationDeps: true,
		exclude: { path: '^(\\./|server/)?dist/' },
		doNotFollow: { path: 'node_modules' },
		enhancedResolveOptions: {
			exportsFields: ['exports'],
			conditionNames: ['import', 'require', 'node', 'default', 'types'],
		},
	},
};
