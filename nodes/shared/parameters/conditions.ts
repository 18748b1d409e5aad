// When the editor shows a parameter, and with which default.
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

type Values = NonNullable<IDisplayOptions['show']>;

const FIXED = ['@tool', 'resource', 'operation', 'event', 'events'];

/** The parameters, shown only if others have one of these values, too. */
export function shownIf(values: Values, parameters: INodeProperties[]): INodeProperties[] {
	return parameters.map((parameter) => {
		const { displayOptions } = parameter;
		const show = fixedFirst({ ...values, ...displayOptions?.show });
		return { ...parameter, displayOptions: { ...displayOptions, show } };
	});
}

/** What can't be an expression comes first: n8n checks no condition after one on an expression. */
function fixedFirst(values: Values): Values {
	const isFixed = ([name]: [string, unknown]) => FIXED.includes(name);
	const all = Object.entries(values);
	return Object.fromEntries([
		...all.filter(isFixed),
		...all.filter((condition) => !isFixed(condition)),
	]);
}

/**
 * The parameters of one choice. None is required: n8n would also require it if an expression chooses,
 * whatever that returns. So the operation must say what is missing.
 */
export function ifChosen(
	parameter: string,
	choice: string,
	parameters: INodeProperties[],
): INodeProperties[] {
	const optional = parameters.map((each) => {
		const copy = { ...each };
		delete copy.required;
		return copy;
	});
	return shownIf({ [parameter]: [choice] }, optional);
}

/** A parameter that has another default if the node is a tool of an agent: it is there twice. */
export function withDefaultOfTool(
	parameter: INodeProperties,
	ofTool: INodeProperties['default'],
): INodeProperties[] {
	const inTool = { ...parameter, default: ofTool };
	return [...shownIf({ '@tool': [false] }, [parameter]), ...shownIf({ '@tool': [true] }, [inTool])];
}

/** A default with which the model fills in the field: the editor's own expression for that. */
export function fromAi(name: string, description: string): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${name}', \`${description}\`, 'string') }}`;
}
