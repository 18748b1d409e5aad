declare module 'eslint-plugin-n8n-nodes-base' {
	type RuleSet = { rules: Record<string, unknown> };
	export const configs: Record<'nodes' | 'credentials' | 'community', RuleSet>;
}
