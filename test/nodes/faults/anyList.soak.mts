import { testAnyList } from './anyList.mts';
import { randomSeed } from '../../support/seed.mts';

testAnyList({ numRuns: 60, seed: randomSeed() });
