import { testLifelogFiles } from './lifelogFiles.mts';

// npm run test:soak writes a month.
testLifelogFiles(7);
