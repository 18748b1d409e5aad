import { INSTALL_PAGE, publicationProblems, readDocuments } from '../support/publication.mts';

const FIRST_PAGES = ['README.md', 'server/README.md'];
const pages = (install: string, first: string) =>
	new Map([[INSTALL_PAGE, install], ...FIRST_PAGES.map((path) => [path, first] as const)]);
const notOnNpm = 'Neither `n8n-nodes-lifelog` nor `lifelog-server` is on npm yet.';
const onNpm = 'Both `n8n-nodes-lifelog` and `lifelog-server` are on npm.';
const npx = 'npx --yes lifelog-server archive .';
const checkout = 'npm run server -- archive .';

test('the documents name npx only if the package is on npm', () => {
	expect(publicationProblems(readDocuments(), false)).toEqual([]);
});

test('before a release, only the page about installing names npx', () => {
	expect(publicationProblems(pages(`${notOnNpm} ${npx}`, checkout), false)).toEqual([]);
	expect(publicationProblems(pages(notOnNpm, npx), false)).toEqual(
		FIRST_PAGES.map((path) => `${path} names npx lifelog-server, which is not on npm yet`),
	);
});

test('after a release, the sentence must say that the package is on npm', () => {
	expect(publicationProblems(pages(notOnNpm, checkout), true)).toEqual([
		expect.stringContaining(`${INSTALL_PAGE} must say "Both`),
	]);
	for (const isRelease of [true, false]) {
		expect(publicationProblems(pages(onNpm, checkout), isRelease)).toEqual(
			FIRST_PAGES.map((path) => `${path} must give the command as npx lifelog-server archive`),
		);
		expect(publicationProblems(pages(onNpm, npx), isRelease)).toEqual([]);
	}
});

test('the sentence is in exactly one place', () => {
	for (const install of ['', `${notOnNpm} ${onNpm}`]) {
		expect(publicationProblems(pages(install, checkout), false)).toEqual([
			expect.stringContaining('must have one of these sentences'),
		]);
	}
	const others = [...readDocuments()].filter(
		([path, text]) => path !== INSTALL_PAGE && /\bis on npm yet\b/.test(text),
	);
	expect(others).toEqual([]);
});
