// Webhooks on the page of lifelog-server, in Chromium.
import { ask, temporaryFolder, type SpawnedServer } from '../server/sources.mts';
import { register, say, startReceiver, type Receiver } from '../server/events/receiver.mts';
import { until } from '../support/soon.mts';
import { findings, usePages } from '../support/openPage.mts';
import { HOSTILE } from './hostile.mts';

const { closing, open, serve } = usePages();

async function starts(...args: string[]): Promise<{ server: SpawnedServer; receiver: Receiver }> {
	const receiver = await startReceiver();
	closing.push(receiver.close);
	return { server: await serve(temporaryFolder(), ['--allow-changes', ...args]), receiver };
}

const webhooks = async (server: SpawnedServer) =>
	(await (await ask(server, '/v1/webhooks')).json()).data.webhooks;

test('Status shows where events go, and sends a test', async () => {
	const { server, receiver } = await starts();
	const description = HOSTILE.find((each) => each.length <= 200)!;
	await register(server, receiver, { description });
	const { page } = await open(server);
	await page.goto('/status');
	const section = page.locator('section', { has: page.getByRole('heading', { name: 'Webhooks' }) });
	await section.getByText(receiver.hook).waitFor();
	expect(await section.textContent()).toContain(description);
	expect(await section.textContent()).toMatch(/last delivery .+: status 204/);
	receiver.answer = () => 503;
	await section.getByRole('button', { name: /^Test/ }).click();
	await section.getByText('Test: status 503').waitFor();
	expect(receiver.tests).toHaveLength(2);
	expect(await section.textContent()).not.toContain('whsec_');
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const width of [360, 1280]) {
			await page.setViewportSize({ width, height: 740 });
			const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
			const found = [colorScheme, scroll, await findings(page)];
			expect(found).toEqual([colorScheme, width, []]);
		}
	}
});

test('one that is paused says why, and is active again after a test that arrives', async () => {
	const { server, receiver } = await starts();
	receiver.answer = () => 410;
	await register(server, receiver);
	await say(server, 'Nobody is there.');
	await until(async () => (await webhooks(server))[0].status === 'paused');
	const { page } = await open(server);
	await page.goto('/status');
	const reason = page.getByText('Paused: the receiver said that it is gone (410).');
	await reason.waitFor();
	await page.getByText('1 waiting').waitFor();
	receiver.answer = () => 204;
	await page.getByRole('button', { name: /^Test the webhook/ }).click();
	await page.getByText('Test: status 204').waitFor();
	await reason.waitFor({ state: 'detached' });
	await until(() => receiver.received.length === 2);
});

test('one is removed', async () => {
	const { server, receiver } = await starts();
	await register(server, receiver);
	const { page } = await open(server);
	await page.goto('/status');
	const remove = page.getByRole('button', { name: `Remove the webhook to ${receiver.hook}` });
	await remove.click();
	await page.getByRole('button', { name: 'Cancel' }).click();
	expect(await webhooks(server)).toHaveLength(1);
	await remove.click();
	await page.locator('dialog').getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('heading', { name: 'Webhooks' }).waitFor({ state: 'detached' });
	expect(await webhooks(server)).toEqual([]);
});

test.each([
	['there are none', []],
	['they are turned off', ['--no-webhooks']],
])('nothing is shown if %s', async (_name, args) => {
	const { server } = await starts(...args);
	const { page } = await open(server);
	await page.goto('/status');
	await page.waitForSelector('.facts');
	await page.waitForLoadState('networkidle');
	expect(await page.getByRole('heading', { name: 'Webhooks' }).count()).toBe(0);
});
