// What the server calls when something has happened.
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import { isId, isObject } from '../../lifelog/names.ts';
import { getLifelog, unlessDeleted } from '../shared/api/entries';
import { getRecording } from '../shared/api/recordings';
import { type Api, connect } from '../shared/auth/connection';
import { type Reported, reportedJson } from '../shared/parameters/reported';
import { type Event, readEvents, readSettings } from './parameters';
import { registrationOf } from './registration';
import { whyRefused } from './signature';

/** The server gives up waiting for an answer after 20 s, and would then send the event again. */
const MAX_MS = 15_000;
const MAX_WAIT_MS = 10_000;
/** IDs of deliveries that are remembered. */
const MAX_IDS = 100;

/** A request as n8n hands it on. */
interface RawRequest {
	headers: Record<string, unknown>;
	/** The body, byte for byte. */
	rawBody?: Buffer;
}

/** How what happened is read, by its event. */
const READERS: Record<Event, (api: Api, id: string, reported: Reported) => Promise<IDataObject>> = {
	'lifelog.created': readLifelog,
	'lifelog.deleted': async (_api, id) => ({ id }),
	'lifelog.updated': readLifelog,
	'recording.completed': getRecording,
	'recording.failed': getRecording,
};

/**
 * Takes a delivery: checks its signature, and reads what it is about. It starts no workflow if it is a
 * test, a repeat, of an event that wasn't chosen, or about something that is gone.
 *
 * @throws NodeApiError if it can't be read. n8n then answers 500, and the server tries again.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const endsAt = performance.now() + MAX_MS;
	const { headers, rawBody = Buffer.alloc(0) } = context.getRequestObject() as RawRequest;
	const id = headers['webhook-id'] as string;
	const signed = {
		id,
		timestamp: headers['webhook-timestamp'],
		signature: headers['webhook-signature'],
	};
	const secret = registrationOf(context)?.secret ?? '';
	const reason = whyRefused(secret, signed, rawBody, Date.now());
	if (reason !== undefined) {
		// The server's first test comes before n8n has saved the secret.
		if (secret !== '') {
			context.logger.warn(`A delivery to "${context.getNode().name}" was refused: ${reason}`);
		}
		return refuse(context, reason);
	}
	const staticData = context.getWorkflowStaticData('node');
	const known = [staticData.deliveries ?? []].flat();
	const delivery = deliveryIn(rawBody);
	const type = readEvents(context).find((each) => each === delivery?.type);
	if (!delivery || !type || known.includes(id)) return {};
	const settings = readSettings(context);
	const budget = { maxWaitMs: MAX_WAIT_MS, hasPriority: true, retries: 0 };
	const api = { ...(await connect(context, budget)), endsAt };
	const json = await unlessDeleted(api, READERS[type](api, delivery.id, settings));
	// Not sooner: what failed comes again.
	staticData.deliveries = [...known, id].slice(-MAX_IDS);
	return json ? { workflowData: [[{ json: { ...json, event: type } }]] } : {};
}

async function readLifelog(api: Api, id: string, reported: Reported): Promise<IDataObject> {
	const { timezone, include } = reported;
	return reportedJson(await getLifelog(api, id, { timezone, ...include }), reported);
}

/** Its type, and the ID of its lifelog or recording; undefined without an ID. */
function deliveryIn(body: Buffer): { type: unknown; id: string } | undefined {
	const delivery = jsonParse<unknown>(body.toString(), { fallbackValue: undefined });
	if (!isObject(delivery) || !isObject(delivery.data)) return undefined;
	const { id } = delivery.data;
	return isId(id) ? { type: delivery.type, id } : undefined;
}

function refuse(context: IWebhookFunctions, error: string): IWebhookResponseData {
	const response = context.getResponseObject();
	response.writeHead(401, { 'content-type': 'application/json' });
	response.end(JSON.stringify({ error }));
	return { noWebhookResponse: true };
}
