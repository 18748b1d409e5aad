// Lists in examples/README.md are from the notes on the canvas, and both name parameters that exist.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { INode, INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { descriptions, found, NodeHelpers, notesOf } from './sources.mts';

interface Example {
	name: string;
	nodes: INode[];
}

const readme = readFileSync('examples/README.md', 'utf8');
const ours = new Map(
	descriptions().map((description) => [`n8n-nodes-lifelog.${description.name}`, description]),
);
const descriptionOf = ({ type }: INode) => ours.get(type) ?? ours.get(type.replace(/Tool$/, ''));

const noteOf = (example: Example, noteName: string) =>
	notesOf(example).find(({ name }) => name === noteName)?.content ?? '';
const numbered = (text: string): string[] => text.match(/^\d\. .*$/gm) ?? [];
const bulleted = (text: string): string[] => text.match(/^- .*$/gm) ?? [];
/** Without the addresses of links, which differ, and without emphasis, which Prettier writes its own way. */
const plain = (line: string) => line.replace(/\]\([^)]*\)/g, ']').replace(/[*_]/g, '');
/** Whether each line is also on the canvas, which may have more. */
function areOn(lines: string[], canvas: string[]): boolean {
	const known = canvas.map(plain);
	return lines.every((line) => known.includes(plain(line)));
}

/** What n8n adds to every polling trigger. */
const POLL_TIMES = { displayName: 'Poll Times' } as INodeProperties;

/** The names on the way to a parameter that lead nowhere; Options and Filters may be left out. */
function wrongTurns(node: INode, description: INodeTypeDescription, path: string[]): string[] {
	const { properties } = description;
	const { parameters } = node;
	const args = [properties, parameters, true, false, node, description] as const;
	const given = NodeHelpers.getNodeParameters(...args)!;
	const shown = properties.filter((each) =>
		NodeHelpers.displayParameter(given, each, node, description, given),
	);
	const within = ({ options = [] }: INodeProperties) => options as INodeProperties[];
	const collections = shown.filter(({ type }) => type === 'collection');
	let here = [...shown, ...collections.flatMap(within), POLL_TIMES];
	return path.filter((label) => {
		const labels = label.split(', ');
		const known = here.filter(({ displayName }) => labels.includes(displayName));
		here = known.flatMap(within);
		return known.length < labels.length;
	});
}

/** What a note names as `**Node → Filters → Is Starred:**` and a node doesn't have. */
function unknownParameters({ nodes }: Example, notes: string): string[] {
	const paths = [...notes.matchAll(/\*\*([^*]* → [^*]*?):?\*\*/g)].map(([, path]) => path);
	return paths.flatMap((path) => {
		const [nodeName, ...labels] = path.split(' → ');
		const node = nodes.find(({ name }) => name === nodeName);
		const description = node && descriptionOf(node);
		if (!description || labels[0] === 'Credential') return [];
		const wrong = wrongTurns(node, description, labels);
		return wrong.map((label) => `names "${label}" in **${path}**, which isn't there`);
	});
}

/** n8n chooses a credential by itself, and a time zone that matters to what is about days. */
function unaskedSettings({ nodes }: Example, text: string, note: string): string[] {
	const own = nodes.filter((node) => descriptionOf(node)).map(({ name }) => name);
	const unchecked = (note.match(/^\d\. .* → Credential:\*\*.*$/gm) ?? []).filter((line) => {
		const [names, ...others] = line.split(' → Credential:**');
		const isOwn = own.some((node) => names.includes(node)) || /Lifelog nodes|tools/.test(names);
		return isOwn && !/^ check (that it's|them)\b/.test(others.join());
	});
	// n8n itself gives what these return the workflow's time zone.
	const isOfDays = /"yesterday"|or yesterday'|\$now\.toFormat|Search my days/.test(text);
	const isAsked = /^\d\. \*\*⋯ → Settings → Timezone:\*\* /m.test(note);
	return [
		...unchecked.map((line) => `doesn't ask to check the credential: ${line}`),
		...(isOfDays === isAsked ? [] : [`${isAsked ? 'asks' : "doesn't ask"} for the time zone`]),
	];
}

/** What the canvas lacks of its section in examples/README.md, or the section of the canvas. */
function differences({ name }: Example, file: string, note: string, known: string): string[] {
	const [before, after = ''] = readme.split(`## [${name}](${file}.json)\n`);
	const section = after.split('\n## ')[0];
	const [, , ...steps] = note.split('\n').filter((line) => line !== '');
	const must: Record<string, boolean> = {
		'must have the heading of the example on its note': note.startsWith(`## ${name}\n`),
		'must have only numbered steps on its note':
			steps.length > 0 && steps.join() === numbered(note).join(),
		'must have the note "Good to know"': known.startsWith('## Good to know\n'),
		'must be in the table of examples/README.md': before.includes(`[${name}](#`),
		'must have its picture in examples/README.md': section.includes(`](images/${file}.png)`),
		'must have the steps of its section in examples/README.md': areOn(
			numbered(section),
			numbered(note),
		),
		'must have the list of its section in examples/README.md': areOn(
			bulleted(section),
			bulleted(known),
		),
	};
	return Object.keys(must).filter((sentence) => !must[sentence]);
}

/** A note on a canvas has no folder that a path could begin in, and a page without a link is of no use. */
const pathsWithoutAddress = (example: Example) =>
	notesOf(example)
		.map(({ content }) => content)
		.flatMap((text) => [
			...[...text.matchAll(/\]\((?!https:\/\/)([^)]*)\)/g)].map(([, path]) => path),
			...(text.replace(/\]\([^)]*\)/g, ']').match(/\S+\.md\b(?!`)/g) ?? []),
		])
		.map((path) => `names ${path} without its address`);

export function problemsOfExamples(): string[] {
	const examples = found(globSync('examples/*.json'), 15, 'examples').map((path) => {
		const text = readFileSync(path, 'utf8');
		return { path, text, example: JSON.parse(text) as Example };
	});
	return examples.flatMap(({ path, text, example }) => {
		const [note, known] = ['Set this', 'Good to know'].map((name) => noteOf(example, name));
		return [
			...differences(example, basename(path, '.json'), note, known),
			...unknownParameters(example, `${note}\n${known}`),
			...unaskedSettings(example, text, note),
			...pathsWithoutAddress(example),
		].map((what) => `${path} ${what}`);
	});
}
