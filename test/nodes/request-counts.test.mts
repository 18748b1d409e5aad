import { testListEnds, testRequestCounts } from './requestCounts.mts';

// Up to the first pages' ends; npm run test:soak goes on to 250 entries.
testRequestCounts([
	[10, 'lifelog', 31],
	[25, 'lifelog', 51],
	[100, 'lifelog', 101],
	[25, 'lifelogChat', 26],
]);
testListEnds(51);
