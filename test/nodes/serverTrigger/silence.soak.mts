// A server that doesn't answer while a delivery waits: it gives up after 20 s and sends the event again.
import { EventService } from '../../support/eventService.mts';
import { startLabAt } from '../../support/lab.mts';
import { use } from '../../support/useNode.mts';
import { WebhookHost } from '../../support/webhookHost.mts';
import { workflowWith } from '../../support/workflow.mts';
import { TOO_SLOW } from '../../support/messages.mts';

const lab = use(async () => await startLabAt(await EventService.start()));

test('a delivery is answered before the server gives up', async () => {
	const host = await WebhookHost.start(lab.engine);
	const [, node] = workflowWith('lifelogServerTrigger', {}, { webhookId: 'one' }).nodes;
	await host.activate(node);
	lab.service.isSilent = true;
	const begin = performance.now();
	const delivery = { type: 'lifelog.created', data: { id: 'a1' } };
	expect(await lab.service.deliver(delivery)).toBe(500);
	const tookMs = performance.now() - begin;
	expect(tookMs).toBeGreaterThan(14_000);
	expect(tookMs).toBeLessThan(20_000);
	expect(host.failures[0].message).toContain(TOO_SLOW);
	await host.close();
}, 60_000);
