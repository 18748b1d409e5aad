import { testLifelogFiles } from '../engine/lifelogFiles.mts';

testLifelogFiles(31);
