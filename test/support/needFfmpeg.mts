// The tests of recordings run the real ffmpeg. Without it they would fail one by one, with `ENOENT`.
import { checkFfmpeg } from '../../server/recordings/ffmpeg.mts';

try {
	await checkFfmpeg();
} catch (error) {
	console.error(`npm test needs ffmpeg. ${(error as Error).message}`);
	process.exit(1);
}
