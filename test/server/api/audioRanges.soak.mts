import { testRanges } from './audioRanges.mts';

testRanges(500);
