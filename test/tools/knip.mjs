import { readFileSync } from 'node:fs';

const server = JSON.parse(readFileSync('server/package.json', 'utf8'));
// Each dependency is listed once. What the workspace lists, the nodes and the tests use as well.
const ofServer = Object.keys({ ...server.dependencies, ...server.devDependencies });

/** @type {import('knip').KnipConfig} */
export default {
	ignoreExportsUsedInFile: { interface: true, type: true },
	ignoreUnresolved: [/.*\/api\.ts/],
	ignoreBinaries: [
		...[
			'ffmpeg',
			'mkfifo',
			'mount',
			'openssl',
			'opusinfo',
			'prlimit',
			'script',
			'systemd-analyze',
			'umount',
		],
		// Of the workspace.
		'vite',
	],
	workspaces: {
		'.': {
			entry: [
				'{nodes,credentials}/**/*.{node,credentials}.ts',
				'gulpfile.js',
				'test/n8n/suites/*.mts',
				'test/page/*.web.mts',
				'test/nodes/faults/matrix.mts',
				'test/server/api/load.mts',
				'test/server/sandbox/read-ogg.mts',
				'test/**/*.soak.mts',
				'test/support/{archiveWriter,checkPatterns}.mts',
				'test/tools/coverage{Config,Environment,Runtime}.js',
				'test/support/{failingDisk,faultyDisk,heldDisk,slowDisk}.mts',
				'test/support/{changingNames,commandHost,lockedFile}.mts',
				'test/support/{holdToContractPreload,hostedServer,peakMemory,shortBackoff,shortTimeouts}.mts',
				'test/tools/*.mjs',
			],
			project: ['{nodes,credentials,lifelog,bench,docs,test}/**/*.{ts,mts,mjs}', '*.{js,mjs}'],
			ignoreDependencies: ['n8n-nodes-base', ...ofServer],
		},
		server: {
			entry: ['page/src/{noEntities,noLinkify,theme}.mts'],
			project: ['**/*.mts', '*.cjs', 'page/src/**/*.{mts,tsx}'],
		},
	},
};
