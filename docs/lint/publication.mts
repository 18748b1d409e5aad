import { globSync, readFileSync } from 'node:fs';

/** The page that says whether the packages are on npm. Others link to it. */
const INSTALL_PAGE = 'docs/archive-your-data.md';
/** Pages that name the command first. */
const FIRST_PAGES = ['README.md', 'server/README.md'];
const NOT_ON_NPM = 'Neither `n8n-nodes-lifelog` nor `lifelog-server` is on npm yet.';
const ON_NPM = 'Both `n8n-nodes-lifelog` and `lifelog-server` are on npm.';
/** The package started without a checkout. */
const NPX = /npx (--\S+ )*lifelog-server/;

/** The documents, by path. */
export const readDocuments = (): Map<string, string> =>
	new Map(
		globSync('{*,docs/**/*,{examples,server}/*}.md').map((path) => [
			path.replaceAll('\\', '/'),
			readFileSync(path, 'utf8'),
		]),
	);

/**
 * Checks that the documents send nobody to a package that doesn't exist yet, whose name anybody could
 * take, and that they offer it once it exists.
 *
 * @param isRelease Whether the packages are being published. They are on npm from then on.
 * @returns What is wrong, in sentences.
 */
export function publicationProblems(documents: Map<string, string>, isRelease: boolean): string[] {
	const install = documents.get(INSTALL_PAGE) ?? '';
	const isOnNpm = install.includes(ON_NPM);
	if (isOnNpm === install.includes(NOT_ON_NPM)) {
		return [`${INSTALL_PAGE} must have one of these sentences: "${NOT_ON_NPM}" or "${ON_NPM}"`];
	}
	const repeated = [...documents].filter(
		([path, text]) => path !== INSTALL_PAGE && /\bis on npm yet\b/.test(text),
	);
	if (repeated.length > 0) {
		return repeated.map(([path]) => `${path} must link to ${INSTALL_PAGE} for what is on npm`);
	}
	if (isOnNpm) {
		const others = FIRST_PAGES.filter((path) => !NPX.test(documents.get(path) ?? ''));
		return others.map((path) => `${path} must give the command as npx lifelog-server archive`);
	}
	if (isRelease) {
		return [`${INSTALL_PAGE} must say "${ON_NPM}", with npx before the checkout`];
	}
	const early = [...documents].filter(
		([path, text]) => path !== INSTALL_PAGE && path !== 'CHANGELOG.md' && NPX.test(text),
	);
	return early.map(([path]) => `${path} names npx lifelog-server, which is not on npm yet`);
}
