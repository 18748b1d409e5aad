import { type NodeOperation, nodeOperations } from './parameters.mts';
import { startTrials, tryAnswer, tryInput } from './properties.mts';
import { use } from '../../support/useNode.mts';

// The same runs each time; npm run test:soak makes many others. A failure prints the seed.
const SEED = 20260301;
const trialOf = ({ isTrigger }: NodeOperation) => ({ seed: SEED, numRuns: isTrigger ? 8 : 16 });

const trials = use(startTrials);

describe.each(
	nodeOperations().map(
		(operation) => [`${operation.node} ${operation.operation}`, operation] as const,
	),
)('%s', (_name, operation) => {
	test(`succeeds or reports the error, whatever its parameters are (seed ${SEED})`, async () => {
		await tryInput(trials, operation, trialOf(operation));
	});

	test(`succeeds or reports the error, whatever the service returns (seed ${SEED})`, async () => {
		await tryAnswer(trials, operation, trialOf(operation));
	});
});
