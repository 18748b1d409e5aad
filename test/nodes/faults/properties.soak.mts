import { nodeOperations } from './parameters.mts';
import { startTrials, tryAnswer, tryInput } from './properties.mts';
import { randomSeed } from '../../support/seed.mts';
import { use } from '../../support/useNode.mts';

// The properties of the nodes' input and of the service's answers, on runs nobody has seen before.

const seed = randomSeed();
const RUNS = 250;
/** Each of them is four polls. */
const RUNS_OF_TRIGGER = 60;

const trials = use(startTrials);

describe.each(
	nodeOperations().map((operation) => [operation.node, operation.operation, operation] as const),
)(`%s %s (SOAK_SEED=${seed})`, (_node, _name, operation) => {
	const trial = { seed, numRuns: operation.isTrigger ? RUNS_OF_TRIGGER : RUNS };

	test('whatever its parameters are', async () => {
		await tryInput(trials, operation, trial);
	});

	test('whatever the answer is', async () => {
		await tryAnswer(trials, operation, trial);
	});
});
