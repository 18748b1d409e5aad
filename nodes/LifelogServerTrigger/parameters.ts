import type { IHookFunctions, INodeProperties, IWebhookFunctions } from 'n8n-workflow';

import { addressProblem, plainAddress } from '../../lifelog/addresses.ts';
import { inputError } from '../shared/errors/nodeErrors';
import { shownIf } from '../shared/parameters/conditions';
import { optionsOf } from '../shared/parameters/lists';
import { outputParameters } from '../shared/parameters/output';
import { choices, readChoices, readText, withoutBlanks } from '../shared/parameters/read';
import { partsOptions, readReported, type Reported } from '../shared/parameters/reported';
import { timezoneOption } from '../shared/parameters/times';

/** What n8n passes to a trigger with a webhook as `this`. */
export type WebhookContext = IHookFunctions | IWebhookFunctions;

export const eventsParameter = choices({
	displayName: 'Trigger On',
	name: 'events',
	type: 'multiOptions',
	noDataExpression: true,
	required: true,
	options: [
		{
			name: 'Lifelog Created',
			value: 'lifelog.created',
			description: 'A lifelog is new in your archive',
		},
		{
			name: 'Lifelog Deleted',
			value: 'lifelog.deleted',
			description: 'A lifelog was deleted. The item has only its ID.',
		},
		{
			name: 'Lifelog Updated',
			value: 'lifelog.updated',
			description: 'The text, the times, the title, the star or the audio of a lifelog has changed',
		},
		{
			name: 'Recording Completed',
			value: 'recording.completed',
			description: 'A recording has become lifelogs, or nobody speaks in it',
		},
		{
			name: 'Recording Failed',
			value: 'recording.failed',
			description: "A recording can't become a lifelog. The item says why.",
		},
	],
	default: ['lifelog.created'],
	description: 'Events that start the workflow',
});

export type Event = (typeof eventsParameter)['options'][number]['value'];

const READ_EVENTS: Event[] = ['lifelog.created', 'lifelog.updated'];

/** n8n is written in lower case, which n8n's lint takes for a slip where it sees it. */
const ADDRESS = "n8n's Address";

const addressOption: INodeProperties = {
	displayName: ADDRESS,
	name: 'address',
	type: 'string',
	default: '',
	placeholder: 'e.g. http://n8n:5678',
	description:
		'Address at which lifelog-server reaches n8n, if it differs from the one in WEBHOOK_URL',
};

export const properties: INodeProperties[] = [
	{
		displayName: 'Needs your own lifelog-server, and a full key of it in the credential',
		name: 'serverNotice',
		type: 'notice',
		default: '',
	},
	eventsParameter,
	...shownIf({ events: READ_EVENTS }, outputParameters),
	optionsOf([...shownIf({ '/events': READ_EVENTS }, partsOptions), addressOption, timezoneOption]),
];

/** @throws NodeOperationError if no event is chosen, or an unknown one. */
export function readEvents(context: WebhookContext): Event[] {
	const given = { events: context.getNodeParameter('events', []) };
	const events = readChoices<Event>(context, eventsParameter, given);
	if (events.length > 0) return events;
	throw inputError(context, "'Trigger On' is empty", 'Choose at least one event.');
}

/** How lifelogs are reported. @throws NodeOperationError on values that can't be used. */
export function readSettings(context: WebhookContext): Reported {
	return readReported(context, optionsIn(context));
}

/**
 * The address at which the server calls this node, as the server writes it: n8n's own one, or at the
 * {@link addressOption}.
 *
 * @throws NodeOperationError if the option isn't an address.
 */
export function webhookUrl(context: WebhookContext): string {
	const own = context.getNodeWebhookUrl('default') ?? '';
	const address = readText(context, addressOption, optionsIn(context));
	if (address === '') return URL.canParse(own) ? new URL(own).href : own;
	// The server knows which addresses may have http.
	const problem = addressProblem(address, () => true);
	if (problem !== undefined) {
		throw inputError(
			context,
			problem === 'not plain'
				? "'n8n's Address' must be a plain address, without a user name, a query or a fragment"
				: "'n8n's Address' is not a web address",
			'Enter the address at which lifelog-server reaches n8n, such as http://n8n:5678. Without the option, it is the one in WEBHOOK_URL.',
		);
	}
	// A proxy at n8n's own address may put a path before it, which n8n doesn't know.
	const segments = context.getNode().webhookId === undefined ? 4 : 3;
	const path = new URL(own).pathname.split('/').slice(-segments).join('/');
	return `${plainAddress(address)}/${path}`;
}

function optionsIn(context: WebhookContext) {
	return withoutBlanks(context.getNodeParameter('options', {}));
}
