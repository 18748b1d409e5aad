import { testAnyList } from './anyList.mts';

// The same services each time; npm run test:soak makes many others.
testAnyList({ numRuns: 8, seed: 19 });
