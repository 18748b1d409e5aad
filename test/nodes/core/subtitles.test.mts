import type { INodeType } from 'n8n-workflow';
import { loadPackage } from '../../support/engine.mts';

// A node's subtitle on the canvas names what was chosen, as the list to choose from does.

const nodes = Object.values(loadPackage().nodeTypes).map((type) => type as INodeType);

test.each(nodes.map(({ description }) => [description.name, description] as const))(
	'%s: the subtitle has the name of each choice',
	(_name, { subtitle, properties }) => {
		const [, chosenBy] = /\$parameter\["(\w+)"\]/.exec(subtitle!)!;
		const names = [...subtitle!.matchAll(/"([\w.]+)": "([^"]+)"/g)].map(([, value, name]) => ({
			name,
			value,
		}));
		const options = properties.find(({ name }) => name === chosenBy)!.options as typeof names;
		const choices = options.map(({ name, value }) => ({ name, value }));
		const byValue = (a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1);
		expect(names.sort(byValue)).toEqual(choices.sort(byValue));
	},
);
