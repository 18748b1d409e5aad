// npm run lint:pictures
import { changedPictures } from './changed.mts';

const changes = [...changedPictures().values()].flat();
if (changes.length > 0) {
	console.error(`${changes.join('\n')}\nRun npm run pictures, and look at the new pictures.`);
	process.exitCode = 1;
}
