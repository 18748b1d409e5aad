import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

/** Set if the pictures of the repository are to change. */
export const UPDATE_PICTURES = 'UPDATE_PICTURES';

/** In pixels. Two pictures of the same view can differ by a caret or by a digit of the time. */
const TOLERANCE = 100;

/**
 * Replaces a PNG file, unless the new picture looks like the one that is there.
 *
 * @returns Whether the file was written.
 */
export function replacePicture(path: string, picture: Buffer): boolean {
	if (existsSync(path) && looksLike(PNG.sync.read(readFileSync(path)), PNG.sync.read(picture)))
		return false;
	writeFileSync(path, picture);
	return true;
}

function looksLike(one: PNG, other: PNG): boolean {
	const { width, height } = one;
	if (width !== other.width || height !== other.height) return false;
	return pixelmatch(one.data, other.data, undefined, width, height) <= TOLERANCE;
}
