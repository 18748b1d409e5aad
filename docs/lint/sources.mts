import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { INode, INodeTypeDescription } from 'n8n-workflow';
import ts from 'typescript';

const load = createRequire(resolve('package.json'));

/** As nodes use it: the CommonJS copy. */
export const { NodeHelpers } = load('n8n-workflow') as typeof import('n8n-workflow');

/** A list, if it is as long as it should be: a check that finds nothing to check is broken. */
export function found<T>(list: T[], minimum: number, what: string): T[] {
	if (list.length >= minimum) return list;
	throw new Error(`Only ${list.length} ${what} were found, at least ${minimum} were expected`);
}

/** All parts of a program. */
export function programOf(path: string): ts.Node[] {
	const text = readFileSync(path, 'utf8');
	const parts: ts.Node[] = [];
	const visit = (node: ts.Node) => {
		parts.push(node);
		node.forEachChild(visit);
	};
	visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
	return parts;
}

/** The notes on the canvas of an example. */
export const notesOf = ({ nodes }: { nodes: INode[] }) =>
	nodes
		.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
		.map(({ name, parameters }) => ({ name, content: parameters.content as string }));

/** The built nodes of the package. */
export function descriptions(): INodeTypeDescription[] {
	const manifest = load('./package.json') as { n8n: { nodes: string[] } };
	return manifest.n8n.nodes.map((path) => {
		const [Node] = Object.values(load(`./${path}`)) as (new () => {
			description: INodeTypeDescription;
		})[];
		return new Node().description;
	});
}
