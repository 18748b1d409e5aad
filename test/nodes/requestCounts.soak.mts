import { testListEnds, testRequestCounts } from './requestCounts.mts';

testRequestCounts([
	[10, 'lifelog', 250],
	[25, 'lifelog', 250],
	[100, 'lifelog', 250],
	[25, 'lifelogChat', 80],
]);
testListEnds(80);
