// The sandbox, the demo and the tests are ESM (.mts), which n8n's own config does not match.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(globalIgnores(['dist', '**/*.ts', '**/*.js']), {
	files: ['**/*.mts'],
	extends: [js.configs.recommended, tseslint.configs.recommended],
	rules: {
		// Node runs these files as they are, and would look for the values of a type.
		'@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
	},
});
