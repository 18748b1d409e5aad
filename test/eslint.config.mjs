// The rules that need types, for all code. n8n's own config (eslint.config.mjs) has the others for nodes.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Its functions return promises that nobody has to wait for.
const NODE_TEST = {
	from: 'file',
	path: 'node_modules/@types/node/test.d.ts',
	name: ['suite', 'test'],
};

const TYPED_RULES = {
	'@typescript-eslint/no-base-to-string': 'error',
	'@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [NODE_TEST] }],
	'@typescript-eslint/no-misused-promises': 'error',
	'@typescript-eslint/switch-exhaustiveness-check': [
		'error',
		{ considerDefaultExhaustiveForUnions: true },
	],
	'@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
};

export default defineConfig(
	globalIgnores(['**/dist', '**/*.d.ts', '**/*.js']),
	{
		files: ['{nodes,credentials}/**/*.ts'],
		extends: [tseslint.configs.base],
		languageOptions: { parserOptions: { project: 'tsconfig.json' } },
		rules: TYPED_RULES,
	},
	{
		files: ['**/*.{mts,tsx}'],
		extends: [js.configs.recommended, tseslint.configs.recommended],
		languageOptions: {
			parserOptions: { project: ['test/tsconfig.json', 'server/page/tsconfig.json'] },
		},
		rules: {
			// Node runs these files as they are, and would look for the values of a type.
			'@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
			...TYPED_RULES,
		},
	},
	{
		// A test fails when a handler's promise does, and its comparison shows what became of an object.
		files: ['test/**'],
		rules: {
			'@typescript-eslint/no-base-to-string': 'off',
			'@typescript-eslint/no-misused-promises': 'off',
		},
	},
);
