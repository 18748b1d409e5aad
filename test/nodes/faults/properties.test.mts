import { seedOr, size } from '../../support/size.mts';
import { type NodeOperation, nodeOperations } from './parameters.mts';
import { startTrials, tryAnswer, tryInput } from './properties.mts';
import { use } from '../../support/useNode.mts';

const SEED = seedOr(20260301);
const trialOf = ({ isTrigger }: NodeOperation) => ({
	seed: SEED,
	// Each run of a trigger is four polls.
	numRuns: isTrigger ? size(8, 30) : size(16, 80),
});

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
