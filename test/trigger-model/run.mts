// `npm run test:model -- --runs 20000 [--seed 1]`: the histories of the model test, as many as wanted.
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { chatHistory, playChats } from './chats.mts';
import { history } from './history.mts';
import { playLifelogs } from './lifelogs.mts';
import { createTheatre } from './stage.mts';

const { values } = parseArgs({
	options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const numRuns = Number(values.runs);
const began = performance.now();
const { perform, close, totals } = await createTheatre();
console.log(`seed ${seed}, ${numRuns} histories of lifelogs and as many of chats`);
try {
	const lifelogs = fc.asyncProperty(history, async (one) => {
		await perform(one, (stage) => playLifelogs(one, stage));
	});
	await fc.assert(lifelogs, { seed, numRuns });
	const chats = fc.asyncProperty(chatHistory, async (one) => {
		await perform(one, (stage) => playChats(one, stage));
	});
	await fc.assert(chats, { seed, numRuns });
} finally {
	await close();
	console.log(totals, `${Math.round((performance.now() - began) / 1000)} s`);
}
