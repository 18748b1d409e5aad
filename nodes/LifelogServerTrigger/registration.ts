// What n8n asks a trigger with a webhook to do when its workflow begins or ends to be active.
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { isId, isObject } from '../../lifelog/names.ts';
import { beginning, oneLine } from '../../lifelog/text.ts';
import { unlessDeleted } from '../shared/api/entries';
import { type Api, connect } from '../shared/auth/connection';
import { apiError, inputError, type Resource } from '../shared/errors/nodeErrors';
import { unusableAnswerError } from '../shared/errors/status';
import { deleteEntry, getJson, sendData } from '../shared/transport/request';
import { readEvents, readSettings, type WebhookContext, webhookUrl } from './parameters';

/** What is kept of a webhook that was registered. Only with its address is it this node's. */
interface Registration {
	id: string;
	url: string;
	secret: string;
}

/** In UTF-16 units. */
const MAX_DESCRIPTION = 100;
const PATH = '/v1/webhooks';
const BUDGET = { maxWaitMs: 20_000, hasPriority: true, retries: 1, timeoutMs: 30_000 };

/**
 * What a check or a renewal failed with, by the node's address. n8n then calls `delete` although it will
 * try again. If that reached the server, the events that wait there would be dropped.
 */
const failures = new Map<string, unknown>();

/** Addresses whose renewal failed: the server may have another secret than the node. */
const unsure = new Set<string>();

/** The registration in the static data, in which a workflow that was copied may have another's. */
export function registrationOf(context: WebhookContext): Registration | undefined {
	const { webhook } = context.getWorkflowStaticData('node');
	if (!isObject(webhook)) return undefined;
	const { id, url, secret } = webhook;
	const isComplete = [id, url, secret].every((each) => typeof each === 'string');
	return isComplete ? (webhook as unknown as Registration) : undefined;
}

/** Whether the server calls this node for the events that are chosen. */
export async function isRegistered(context: IHookFunctions): Promise<boolean> {
	const registration = registrationOf(context);
	const url = webhookUrl(context);
	failures.delete(url);
	if (registration?.url !== url || unsure.has(url)) return false;
	return await remembered(url, isActive(context, registration));
}

/** Remembers what an attempt fails with. */
async function remembered<T>(url: string, attempt: Promise<T>): Promise<T> {
	await attempt.catch((error: unknown) => failures.set(url, error));
	return await attempt;
}

async function isActive(context: IHookFunctions, { id, url }: Registration): Promise<boolean> {
	const api = await connect(context, BUDGET);
	const resource = { noun: 'webhooks' };
	const body = await orRefused(api, resource, getJson(api, PATH, {}, resource));
	const { webhooks } = (body.data ?? {}) as { webhooks?: unknown };
	if (!Array.isArray(webhooks)) {
		throw unusableAnswerError(api, resource, { body }, 'it has no webhooks (data.webhooks)');
	}
	const known = webhooks.filter(isObject).find((webhook) => webhook.id === id);
	const types = [known?.types].flat();
	const events: unknown[] = readEvents(context);
	// A webhook that is paused is resumed by registering it again.
	return (
		known?.status === 'active' &&
		known.url === url &&
		types.length === events.length &&
		types.every((type) => events.includes(type))
	);
}

/**
 * Registers this node with the server, and keeps ID and secret. The server tries its address at once.
 *
 * @throws NodeOperationError if the server can't reach n8n. Then nothing stays registered.
 */
export async function register(context: IHookFunctions): Promise<void> {
	const url = webhookUrl(context);
	if (registrationOf(context)?.url === url) {
		unsure.add(url);
		await remembered(url, registerAt(url, context));
	} else await registerAt(url, context);
	unsure.delete(url);
}

async function registerAt(url: string, context: IHookFunctions): Promise<void> {
	const types = readEvents(context);
	// What can't be used is said now, not with the first event.
	readSettings(context);
	const api = await connect(context, BUDGET);
	const resource = { noun: `webhook at ${url}` };
	const { name } = context.getWorkflow();
	const description = beginning(oneLine(`n8n: ${name ?? context.getNode().name}`), MAX_DESCRIPTION);
	const sent = { method: 'POST' as const, path: PATH, body: { url, types, description }, resource };
	const body = await orRefused(api, resource, sendData(api, sent));
	const { webhook, reached } = (body.data ?? {}) as { webhook?: IDataObject; reached?: unknown };
	const { id, secret } = webhook ?? {};
	if (!isId(id) || typeof secret !== 'string') {
		const problem = 'it has no ID and secret (data.webhook)';
		// The answer may have a secret.
		throw unusableAnswerError(api, resource, {}, problem);
	}
	const { error } = isObject(reached) ? reached : {};
	if (error !== undefined) {
		await deleteWebhook(api, id);
		throw unreachableError(context, url, oneLine(error));
	}
	context.getWorkflowStaticData('node').webhook = { id, url, secret };
}

/**
 * Ends the registration. One that is gone, or of another address, is only forgotten.
 *
 * @throws What the check or the renewal just before failed with. Then the registration stays.
 */
export async function unregister(context: IHookFunctions): Promise<void> {
	const registration = registrationOf(context);
	const url = webhookUrl(context);
	if (registration?.url === url) {
		const failure = failures.get(url);
		// Only once: the next time, the workflow may really be deactivated.
		if (failures.delete(url)) throw failure;
		await deleteWebhook(await connect(context, BUDGET), registration.id);
	}
	delete context.getWorkflowStaticData('node').webhook;
}

async function deleteWebhook(api: Api, id: string): Promise<void> {
	await unlessDeleted(api, deleteEntry(api, 'webhook', id));
}

/** The answer to a request about webhooks. Explains errors of services without webhooks. */
async function orRefused<T>(api: Api, resource: Resource, answer: Promise<T>): Promise<T> {
	return await answer.catch((error: unknown) => {
		throw error instanceof NodeApiError ? (refusalOf(api, resource, error) ?? error) : error;
	});
}

function refusalOf(api: Api, resource: Resource, error: NodeApiError): NodeApiError | undefined {
	const { httpCode } = error;
	if (httpCode === '403') {
		return apiError(
			api,
			"The API key may only read, so it can't register a webhook",
			["On lifelog-server's page, under Connect, make a key for n8n. Enter it in the credential."],
			{ about: resource, httpCode, failure: { cause: 'credential-invalid' } },
		);
	}
	if (httpCode !== '404' && httpCode !== '405') return undefined;
	return apiError(
		api,
		"This service doesn't have webhooks. lifelog-server does.",
		[
			"Enter the address of your lifelog-server as the 'Base URL' of the credential. If it's already there, update lifelog-server, or start it without --no-webhooks. For other services, use the Lifelog Trigger.",
		],
		{ about: resource, httpCode, failure: { cause: 'configuration-invalid' } },
	);
}

/** If a workflow can't be published, the editor shows only the message. */
function unreachableError(context: IHookFunctions, url: string, problem: string) {
	return inputError(
		context,
		`lifelog-server can't reach n8n at ${new URL(url).origin}: ${problem || 'it got no answer'}. Set the option 'n8n's Address' to one that it can reach, such as http://n8n:5678`,
		"In Docker, this is the name of n8n's container. If others need that address too, set WEBHOOK_URL of n8n.",
	);
}
