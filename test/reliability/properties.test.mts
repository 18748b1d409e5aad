import { actions, startTrials, tryAnswer, tryInput, type Trials } from './properties.mts';

// The same runs each time; npm run test:soak makes many others. A failure prints the seed.
const trial = { seed: 20260301, numRuns: 60 };

let trials: Trials;

beforeAll(async () => {
	trials = await startTrials();
});

afterAll(async () => {
	await trials.close();
});

describe.each(
	actions().map((operation) => [`${operation.node} ${operation.operation}`, operation] as const),
)('%s', (_name, operation) => {
	test(`does its work or says what is wrong, whatever its parameters are (seed ${trial.seed})`, async () => {
		await tryInput(trials, operation, trial);
	});

	test(`does its work or says what is wrong, whatever the answer is (seed ${trial.seed})`, async () => {
		await tryAnswer(trials, operation, trial);
	});
});
