// Links to this repository lead to a file and a heading that exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';
import { found } from './sources.mts';

const PROJECT = 'n8n-nodes-lifelog/n8n-nodes-lifelog';
/** Absolute, so that the links of the README work on npm as well. */
const PAGES = `https://github.com/${PROJECT}/blob/main/`;
const FILES = `https://raw.githubusercontent.com/${PROJECT}/main/`;

const exclude = (name: string) => ['node_modules', 'dist', 'versions'].includes(name);

export const documents = globSync('**/*.md', { exclude }).map((path) => path.replaceAll('\\', '/'));

const markdown = new MarkdownIt();
const parsed = (path: string) => markdown.parse(readFileSync(path, 'utf8'), {});

/** Where the links and pictures of a document lead to, as they are written. */
const linksIn = (path: string) =>
	parsed(path)
		.flatMap(({ children }) => children ?? [])
		.map((token) => token.attrGet('href') ?? token.attrGet('src'))
		.filter((target) => target !== null)
		.map(decodeURI);

const linksOf = new Map(documents.map((path) => [path, linksIn(path)]));

/** The anchors that GitHub gives the headings of a document. */
function anchorsIn(path: string): string[] {
	const slugger = new GithubSlugger();
	const tokens = parsed(path);
	return tokens
		.filter((_token, nth) => tokens[nth - 1]?.type === 'heading_open')
		.map(({ children }) => slugger.slug(children!.map(({ content }) => content).join('')));
}

/** The file of this repository that a link names, and the heading in it; none for other links. */
function targetOf(path: string, link: string): [file?: string, anchor?: string] {
	const own = [PAGES, FILES].find((address) => link.startsWith(address));
	if (!own && /^[a-z]+:/.test(link)) return [];
	const [file, anchor] = (own ? link.slice(own.length) : link).split('#');
	if (own) return [file, anchor];
	return [file === '' ? path : join(dirname(path), file).replaceAll('\\', '/'), anchor];
}

function leadsSomewhere(path: string, link: string): boolean {
	const [file, anchor] = targetOf(path, link);
	if (file === undefined) return true;
	return existsSync(file) && (anchor === undefined || anchorsIn(file).includes(anchor));
}

/** The addresses of this repository in the code and the examples. */
function addresses(): (readonly [string, string])[] {
	const sources = globSync('{nodes,credentials,server,examples}/**/*.{ts,mts,cjs,json}', {
		exclude,
	});
	const all = sources.flatMap((path) =>
		[...readFileSync(path, 'utf8').matchAll(/https:\/\/[^\s"'`)\\]+/g)].map(
			([address]) => [path, address] as const,
		),
	);
	return found(
		all.filter(([path, address]) => targetOf(path, address)[0] !== undefined),
		8,
		'addresses of this repository in the code',
	);
}

function unreachedPages(): string[] {
	const reached = new Set(['README.md']);
	for (const page of reached) {
		for (const link of linksOf.get(page)!) {
			const [target] = targetOf(page, link);
			if (target && linksOf.has(target)) reached.add(target);
		}
	}
	return documents.filter((path) => path.startsWith('docs/') && !reached.has(path));
}

export function problemsOfLinks(): string[] {
	const links = documents.flatMap((path) =>
		linksOf.get(path)!.map((link) => [path, link] as const),
	);
	const broken = [...found(links, 300, 'links'), ...addresses()].filter(
		([path, link]) => !leadsSomewhere(path, link),
	);
	const relative = linksOf.get('README.md')!.filter((link) => !/^(https:|#)/.test(link));
	return [
		...broken.map(([path, link]) => `${path} links to ${link}, which doesn't exist`),
		...relative.map((link) => `README.md links to ${link}, which npm doesn't have: add ${PAGES}`),
		...unreachedPages().map((path) => `No links lead from README.md to ${path}`),
	];
}
