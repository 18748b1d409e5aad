// Random histories of recordings, chats, changes and troubles; `npm run test:model` runs more.
import fc from 'fast-check';
import { chatHistory, playChats } from './chats.mts';
import { history } from './history.mts';
import { playLifelogs } from './lifelogs.mts';
import { createTheatre, type Setting, type Stage } from './stage.mts';

const SEED = 4;

async function assertAll<T extends Setting>(
	name: string,
	numRuns: number,
	histories: fc.Arbitrary<T>,
	play: (history: T, stage: Stage) => Promise<void>,
): Promise<void> {
	const { perform, close, totals } = await createTheatre();
	const property = fc.asyncProperty(histories, async (one) => {
		await perform(one, (stage) => play(one, stage));
	});
	try {
		await fc.assert(property, { seed: SEED, numRuns });
	} finally {
		await close();
	}
	process.stdout.write(`trigger model, ${name}, seed ${SEED}: ${JSON.stringify(totals)}\n`);
	expect(totals.histories).toBe(numRuns);
}

test('no lifelog is missed or repeated, whatever happens', async () => {
	await assertAll('lifelogs', 1000, history, playLifelogs);
}, 600_000);

test('no scheduled chat is missed or repeated, whatever happens', async () => {
	await assertAll('chats', 500, chatHistory, playChats);
}, 600_000);
