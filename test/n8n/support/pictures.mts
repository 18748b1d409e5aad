import { test } from 'node:test';
import { isMakingPictures } from '../../support/pictures.mts';

/** A test that makes no picture: it doesn't run when the pictures are made. */
export function testWithoutPicture(name: string, run: () => Promise<void>): void {
	if (!isMakingPictures) test(name, run);
}
