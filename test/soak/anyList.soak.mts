import { testAnyList } from '../reliability/anyList.mts';
import { randomSeed } from './seed.mts';

testAnyList({ numRuns: 60, seed: randomSeed() });
