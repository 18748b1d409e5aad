import { testRanges } from '../server/audioRanges.mts';

testRanges(500);
