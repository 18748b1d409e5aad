import { INSTALL_PAGE, publicationProblems, readDocuments } from '../support/publication.mts';

const documents = readDocuments();
const changed = (path: string, change: (text: string) => string) =>
	new Map([...documents, [path, change(documents.get(path)!)]]);
const onNpm = (text: string) =>
	text.replace(/Neither (`\S+`) nor (`\S+`) is on npm yet\./, 'Both $1 and $2 are on npm.');

test('the documents send nobody to a package that is not on npm', () => {
	expect(publicationProblems(documents, false)).toEqual([]);
	const early = changed('README.md', (text) => `${text}\nnpx --yes lifelog-server archive .`);
	expect(publicationProblems(early, false)).toEqual([
		'README.md names npx lifelog-server, which is not on npm yet',
	]);
});

test('a release turns the sentence around', () => {
	expect(publicationProblems(documents, true)).toEqual([
		expect.stringContaining(`${INSTALL_PAGE} must say "Both`),
	]);
	const released = changed(INSTALL_PAGE, onNpm);
	const others = ['README.md', 'server/README.md'];
	expect(publicationProblems(released, true)).toEqual(
		others.map((path) => `${path} must give the command as npx lifelog-server archive`),
	);
	for (const path of others) {
		released.set(path, `${released.get(path)}\nnpx lifelog-server archive ~/lifelogs`);
	}
	expect(publicationProblems(released, true)).toEqual([]);
	expect(publicationProblems(released, false)).toEqual([]);
});

test('the sentence is in one place', () => {
	const without = changed(INSTALL_PAGE, () => '');
	expect(publicationProblems(without, false)).toEqual([
		expect.stringContaining('must have one of these sentences'),
	]);
	const pages = [...documents].filter(([, text]) => /\bis on npm yet\b/.test(text));
	expect(pages.map(([path]) => path)).toEqual([INSTALL_PAGE]);
});
