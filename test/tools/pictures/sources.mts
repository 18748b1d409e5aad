// The texts of this project that a picture can show, read where they are written: in the built
// descriptions, the examples and the page's source. Neither n8n nor a browser is needed.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import MarkdownIt from 'markdown-it';
import type { INode, INodeParameters } from 'n8n-workflow';
import ts from 'typescript';
import type { WorkflowJson } from '../../support/engine.mts';
import {
	choicesOf,
	credentialTexts,
	descriptionOf,
	nodeNames,
	panelTexts,
	selectable,
} from '../../support/panel.mts';

/** What a picture of a node's panel shows. */
export interface PanelOf {
	node: string;
	parameters: INodeParameters;
}

/** What is kept beside a picture. */
export interface Shown extends Partial<PanelOf> {
	texts: string[];
}

interface Source {
	/** What the picture can show; `…` stands for anything. The page has some of them several times. */
	possible: string[];
	/** What it shows for certain. */
	certain: string[];
}

/** The texts of this project among all that can be read in a picture. */
export function textsIn(path: string, seen: string[], panel?: PanelOf): string[] {
	const read = seen.map(spaced);
	return sourceOf(path, panel).possible.filter((text) => {
		const pattern = patternOf(text);
		return read.some((line) => pattern.test(line));
	});
}

/** What has changed since a picture was made, in sentences. */
export function changesSince(path: string, { node, parameters, texts }: Shown): string[] {
	const panel = node === undefined ? undefined : { node, parameters: parameters! };
	const { possible, certain } = sourceOf(path, panel);
	const gone = without(texts, possible).map((text) => `shows "${text}", which has changed`);
	const added = without(certain, texts).map((text) => `doesn't show "${text}"`);
	return [...gone, ...added].map((what) => `${path}.png ${what}`);
}

/** A list without the elements of another, each taken once for each time that it is there. */
function without(texts: string[], others: string[]): string[] {
	const left = [...others];
	return texts.filter((text) => {
		const at = left.indexOf(text);
		if (at >= 0) left.splice(at, 1);
		return at < 0;
	});
}

function sourceOf(path: string, panel?: PanelOf): Source {
	const name = basename(path);
	if (path.startsWith('examples/')) return exampleSource(name);
	if (panel) return panelTexts(panel.node, panel.parameters);
	const other = OTHERS[name];
	return other ? other() : { possible: pageTexts(), certain: [] };
}

/** The pictures of n8n that show no panel of a node. */
const OTHERS: Record<string, () => Source> = {
	credential: credentialTexts,
	nodes: () => {
		const names = nodeNames().map((node) => descriptionOf(node).displayName);
		return { possible: [...names, ...nodeNames().flatMap(subtitlesOf)], certain: names };
	},
	panel: () => {
		const actions = choicesOf('lifelog', 'operation').map(({ action }) => action!);
		const triggers = choicesOf('lifelogTrigger', 'event');
		const headings = [`Actions (${actions.length})`, `Triggers (${triggers.length})`];
		const certain = [...headings, ...actions];
		return { possible: [descriptionOf('lifelog').displayName, ...certain], certain };
	},
};

/** What the canvas can show below the name of a node. */
const subtitlesOf = (node: string) => selectable(node).map(({ name }) => name);

function exampleSource(name: string): Source {
	const { nodes } = JSON.parse(readFileSync(`examples/${name}.json`, 'utf8')) as WorkflowJson;
	const certain = unique(nodes.flatMap((node) => (isNote(node) ? linesOf(node) : [node.name])));
	const own = nodes.map(({ type }) => /^n8n-nodes-lifelog\.(.+?)(Tool)?$/.exec(type)?.[1]);
	const subtitles = own.filter((node) => node !== undefined).flatMap(subtitlesOf);
	return { possible: unique([...certain, ...subtitles]), certain };
}

const isNote = ({ type }: INode) => type === 'n8n-nodes-base.stickyNote';

// As the editor of n8n shows notes.
const markdown = new MarkdownIt({ linkify: true, typographer: true, breaks: true });

/** The lines of a note, as they are read. */
function linesOf({ parameters: { content } }: INode): string[] {
	const blocks = markdown.parse(String(content), {}).filter(({ type }) => type === 'inline');
	const texts = blocks.map(({ children }) =>
		children!.map(({ type, content }) => (type.endsWith('break') ? '\n' : content)).join(''),
	);
	return texts.flatMap((text) => text.split('\n').map(spaced));
}

/** `… of …` would be found in any text. */
const MIN_TEMPLATE_LETTERS = 3;

let ofPage: string[] | undefined;

/** The literals in the source of lifelog-server's page, sorted. */
function pageTexts(): string[] {
	ofPage ??= globSync('server/page/src/**/*.{mts,tsx}').flatMap(literalsOf).sort();
	return ofPage;
}

function literalsOf(path: string): string[] {
	const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const visit = (node: ts.Node) => {
		if (ts.isJsxText(node) || ts.isStringLiteralLike(node)) found.push(node.text);
		if (ts.isTemplateExpression(node)) {
			const text = [node.head, ...node.templateSpans.map(({ literal }) => literal)]
				.map((part) => part.text)
				.join('…');
			if (letters(text) >= MIN_TEMPLATE_LETTERS) found.push(text);
		}
		node.forEachChild(visit);
	};
	visit(file);
	return found.map(spaced).filter((text) => letters(text) > 0);
}

const letters = (text: string) => text.replace(/\P{L}/gu, '').length;

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

const unique = (texts: string[]) => [...new Set(texts)];

function patternOf(text: string): RegExp {
	const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	return new RegExp(`^${parts.join('.+')}$`);
}
