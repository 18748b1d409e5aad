import { testLifelogFiles } from './lifelogFiles.mts';

testLifelogFiles(31);
