declare module '@n8n/scan-community-package/scanner/scanner.mjs' {
	/** What is linted of the sources. */
	export const SOURCE_FILE_PATTERNS: string[];
	/** Lints a package's folder with n8n's rules, without its own configuration and comments. */
	export function analyzePackage(
		folder: string,
		filePatterns?: string[],
	): Promise<{ passed: boolean; message?: string; details?: string }>;
}
