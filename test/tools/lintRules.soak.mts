import { execFileSync, spawnSync } from 'node:child_process';
import { configs } from 'eslint-plugin-n8n-nodes-base';

type RuleSet = keyof typeof configs;

/** Rules that n8n's own configuration for community nodes turns off. */
const TURNED_OFF_BY_N8N = [
	'n8n-nodes-base/cred-class-field-documentation-url-miscased',
	'n8n-nodes-base/cred-class-field-type-options-password-missing',
	'n8n-nodes-base/node-class-description-inputs-wrong-regular-node',
	'n8n-nodes-base/node-class-description-outputs-wrong',
	'n8n-nodes-base/node-param-type-options-max-value-present',
];

test.each<[RuleSet, string]>([
	['nodes', 'nodes/Lifelog/Lifelog.node.ts'],
	['credentials', 'credentials/LifelogApi.credentials.ts'],
	['community', 'package.json'],
])("n8n's %s rules run in npm run lint (%s)", (name, file) => {
	// The lint finds another configuration if it is told that it is tested.
	const env = { ...process.env, NODE_ENV: undefined };
	const eslint = 'node_modules/eslint/bin/eslint.js';
	const printed = execFileSync(process.execPath, [eslint, '--print-config', file], { env });
	const { rules } = JSON.parse(printed.toString()) as { rules: Record<string, unknown[]> };
	const expected = Object.keys(configs[name].rules).filter(
		(rule) => !TURNED_OFF_BY_N8N.includes(rule),
	);
	expect(expected.length).toBeGreaterThan(10);
	expect(
		expected.filter((rule) => [undefined, 0, 'off'].includes(rules[rule]?.[0] as never)),
	).toEqual([]);
});

/** How severe rules are in the lint of each file: 2 for an error. */
function levelsOf(names: string[], files: string[]): unknown[][] {
	const program = `
		import { ESLint } from 'eslint';
		const eslint = new ESLint({ overrideConfigFile: 'test/eslint.config.mjs' });
		const configs = ${JSON.stringify(files)}.map((file) => eslint.calculateConfigForFile(file));
		console.log(JSON.stringify((await Promise.all(configs)).map((config) => config?.rules ?? {})));
	`;
	const args = ['--input-type=module', '--eval', program];
	const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
	return (JSON.parse(printed) as Array<Record<string, unknown[]>>).map((rules) =>
		names.map((name) => rules[`@typescript-eslint/${name}`]?.[0]),
	);
}

test('the rules that need types run for all code', () => {
	const names = [
		'no-base-to-string',
		'no-floating-promises',
		'no-misused-promises',
		'switch-exhaustiveness-check',
		'use-unknown-in-catch-callback-variable',
	];
	const files = [
		'nodes/Lifelog/Lifelog.node.ts',
		'credentials/LifelogApi.credentials.ts',
		'server/http/startServer.mts',
		'server/page/src/app.tsx',
		'server/sandbox/main.mts',
		'server/check/check.mts',
		'bench/bench.mts',
	];
	expect(levelsOf(names, files)).toEqual(files.map(() => names.map(() => 2)));
	const ofTests = ['no-floating-promises', 'use-unknown-in-catch-callback-variable'];
	expect(levelsOf(ofTests, ['test/nodes/core/words.test.mts', 'test/tools/demo.mts'])).toEqual([
		[2, 2],
		[2, 2],
	]);
});

test.each([
	['a sentence of 26 words', `${'word '.repeat(25)}word.`, 'sentence-length'],
	['a word that the glossary replaces', 'It was mended.', 'terminology'],
	['neither', `${'word '.repeat(24)}word.`, undefined],
])('the lint of documents reports %s', (_what, text, rule) => {
	const config = ['--config', 'docs/.textlintrc.yml'];
	const args = [...config, '--stdin', '--stdin-filename', 'docs/page.md', '--format', 'json'];
	const { stdout, status } = spawnSync(
		process.execPath,
		['node_modules/textlint/bin/textlint.js', ...args],
		{ input: `${text}\n`, encoding: 'utf8' },
	);
	const [{ messages }] = JSON.parse(stdout) as [{ messages: Array<{ ruleId: string }> }];
	expect(messages.map(({ ruleId }) => ruleId)).toEqual(rule ? [rule] : []);
	expect(status).toBe(rule ? 1 : 0);
});
