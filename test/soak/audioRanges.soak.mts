import { testRanges } from '../server/audioRanges.mts';

jest.setTimeout(3_600_000);

testRanges(500);
