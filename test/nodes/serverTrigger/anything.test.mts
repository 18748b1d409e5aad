// Whatever the trigger is set to, is sent or is answered, it does its work or says what is wrong.
import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';
import { EventService } from '../../support/eventService.mts';
import { startLabAt } from '../../support/lab.mts';
import { seedOr, size } from '../../support/size.mts';
import { use } from '../../support/useNode.mts';
import { WebhookHost } from '../../support/webhookHost.mts';
import { workflowWith } from '../../support/workflow.mts';
import { anyBody, anyValue } from '../faults/values.mts';

const lab = use(async () => await startLabAt(await EventService.start()));
const trial = { seed: seedOr(620), numRuns: size(40, 200) };

/** Parameters and options, each of them anything. */
const PARAMETERS = ['events', 'output', 'fields'];
const OPTIONS = ['address', 'includeContents', 'includeHeadings', 'includeMarkdown', 'timezone'];

function trigger(parameters: IDataObject): INode {
	return workflowWith('lifelogServerTrigger', parameters, { webhookId: 'any' }).nodes[1];
}

/** The problem of what was thrown; undefined if it's an error of the node, or nothing. */
function unforeseen(error: unknown): string | undefined {
	if (error === undefined) return undefined;
	const { stack = '', message } = error as Error;
	const isOurs = /^Node(Api|Operation)Error/.test(stack) && !/\n\s+at toNodeError/.test(stack);
	return isOurs && message !== '' ? undefined : stack;
}

const outcomeOf = (promise: Promise<unknown>) =>
	promise.then(
		() => undefined,
		(error: unknown) => unforeseen(error),
	);

/** Registers it, has it called for each event, and ends the registration. */
async function live(parameters: IDataObject): Promise<Array<string | undefined>> {
	const host = await WebhookHost.start(lab.engine);
	const node = trigger(parameters);
	const outcomes = [await outcomeOf(host.activate(node))];
	const [webhook] = lab.service.webhooks.values();
	for (const type of webhook?.types ?? []) await lab.service.deliver({ type, data: { id: 'a1' } });
	outcomes.push(...host.failures.map(unforeseen));
	outcomes.push(await outcomeOf(host.deactivate(node)));
	await host.close();
	return outcomes.filter((outcome) => outcome !== undefined);
}

beforeEach(() => {
	lab.service.reset();
	lab.service.lifelogs.set('a1', { id: 'a1', startTime: '2026-03-01T08:00:00.000Z' });
	lab.service.recordings.set('a1', { id: 'a1', status: 'failed' });
});

/** As n8n keeps a parameter: JSON. */
const json = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) as IDataObject;

test('whatever its parameters are', async () => {
	const names = fc.constantFrom(...PARAMETERS, ...OPTIONS);
	let registered = 0;
	const property = fc.asyncProperty(fc.dictionary(names, anyValue, { maxKeys: 2 }), async (any) => {
		const given = Object.entries(json(any));
		const within = (known: string[]) =>
			Object.fromEntries(given.filter(([name]) => known.includes(name)));
		lab.service.requests.length = 0;
		expect(await live({ ...within(PARAMETERS), options: within(OPTIONS) })).toEqual([]);
		if (lab.service.requests.includes('POST /v1/webhooks')) registered++;
	});
	await fc.assert(property, trial);
	expect(registered).toBeGreaterThan(trial.numRuns / 10);
});

test('whatever the server answers', async () => {
	const statuses = fc.constantFrom(200, 200, 200, 201, 204, 301, 400, 403, 404, 409, 500, 503);
	const methods = fc.constantFrom('GET', 'POST', 'DELETE');
	const property = fc.asyncProperty(methods, statuses, anyBody, async (method, status, body) => {
		lab.service.fault = (of) => (of === method ? { status, body: body ?? null } : undefined);
		expect(await live({ events: ['lifelog.created', 'recording.failed'] })).toEqual([]);
		lab.service.webhooks.clear();
	});
	await fc.assert(property, trial);
});

test('whatever is delivered, signed or not', async () => {
	const host = await WebhookHost.start(lab.engine);
	await host.activate(trigger({ events: ['lifelog.created', 'lifelog.deleted'] }));
	const types = fc.oneof(fc.constantFrom('lifelog.created', 'lifelog.deleted'), fc.string());
	const data = fc.oneof(fc.record({ id: anyValue }), anyValue);
	const property = fc.asyncProperty(types, data, fc.boolean(), async (type, about, isForged) => {
		host.started.length = 0;
		const delivery = { type, data: json(about), ...(isForged && { forged: '{}' }) };
		const status = await lab.service.deliver(delivery);
		expect(host.failures.map(unforeseen)).toEqual(host.failures.map(() => undefined));
		if (isForged) expect([status, host.started]).toEqual([401, []]);
		else expect([200, 500]).toContain(status);
	});
	await fc.assert(property, trial);
	await host.close();
});
