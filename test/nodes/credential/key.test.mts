import fc from 'fast-check';
import { skipPauses } from '../../support/skipPauses.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { type Fault, FAULTS } from '../faults/faults.mts';
import { holdsKey, KEY_MARK } from '../faults/marked-key.mts';
import { startTrials } from '../faults/properties.mts';
import { anyValue } from '../faults/values.mts';
import { use } from '../../support/useNode.mts';

// Where the key goes, whatever stands in the credential, and whatever becomes of its test.

const trials = use(startTrials);

const SEED = 20260301;

test(`no Base URL sends a request to another host (seed ${SEED})`, async () => {
	const { service } = trials;
	const own = new URL(service.url).host;
	const other = new URL(service.elsewhere).host;
	const part = fc.constantFrom(
		...['http://', 'https://', '//', '/', '\\', '@', ':', '?', '#', '..', '%2f', '%40', '\t', '\n'],
		...[own, other, 'user', 'base', ' ', '\0', 'localhost', '[::1]', '127.1', '0x7f.1'],
	);
	const anyText = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
	// Most texts are refused before any request.
	const nearlyRight = fc
		.tuple(
			fc.constantFrom(own, other, `localhost:${new URL(service.url).port}`),
			fc.option(anyText),
		)
		.map(([host, end]) => `http://${host}${end ?? ''}`);
	const apiKey = `${KEY_MARK}-base-url`;
	const { seen } = service.open(apiKey);
	const pauses = skipPauses();
	const property = fc.asyncProperty(fc.oneof(anyText, nearlyRight), async (text) => {
		const before = service.strangers.length;
		const engine = await trials.engineAt(text, apiKey);
		const { error } = await engine.runWorkflow(
			workflowWith('lifelog', { operation: 'get', lifelogId: byId('lifelog-a') }),
			// Only for a name server that doesn't answer.
			{ signal: AbortSignal.timeout(10_000) },
		);
		await engine.close();
		expect(holdsKey(error)).toBe(false);
		const isMeant = URL.canParse(text.trim()) && new URL(text.trim()).host === other;
		if (!isMeant) expect(service.strangers.length).toBe(before);
	});
	await fc.assert(property, { seed: SEED, numRuns: 120 }).finally(pauses.stop);
	expect(seen.length).toBeGreaterThan(10);
	expect(service.strangers.length).toBeGreaterThan(0);
});

test(`no API key changes the request (seed ${SEED})`, async () => {
	const { service } = trials;
	const property = fc.asyncProperty(anyValue, async (apiKey) => {
		const engine = await trials.engineAt(service.url, apiKey as string);
		const { error } = await engine.runWorkflow(
			workflowWith('lifelog', { operation: 'get', lifelogId: byId('lifelog-a') }),
		);
		await engine.close();
		expect(error?.message).toMatch(
			/^The (API key (was refused|is missing|has characters)|service refused the request \(431\))/,
		);
	});
	await fc.assert(property, { seed: SEED, numRuns: 200 });
});

/** It lists chats, which have no headings; and n8n itself reads its answer, however long that is. */
const isOfTheTest = ({ slow, play, concerns, isHeavy }: Fault) =>
	!slow && play && concerns !== 'headings' && !isHeavy;
const quick = Object.entries(FAULTS).filter(([, fault]) => isOfTheTest(fault));

test.each(quick)('the credential test never quotes the key: %s', async (name, { play }) => {
	const { service, engine } = trials;
	const apiKey = `${KEY_MARK}-${name}`;
	service.open(apiKey, play);
	const result = await engine.testCredential('lifelogApi', { apiKey, baseUrl: service.url });
	expect(result.message).not.toContain(KEY_MARK);
	expect(service.strangers.join()).not.toContain(apiKey);
});
