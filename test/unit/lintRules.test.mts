import { execFileSync } from 'node:child_process';
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
