import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { type PanelOf, textsIn } from '../tools/pictures/sources.mts';

/** Set by `npm run pictures`: then, only the tests that make a picture run, and keep it. */
export const UPDATE_PICTURES = 'UPDATE_PICTURES';

/** Whether the tests run to make the pictures of the repository. */
export const isMakingPictures = process.env[UPDATE_PICTURES] !== undefined;

/** A picture, and every text that can be read in it. */
export interface Taken {
	png: Buffer;
	seen: string[];
}

/** In pixels. Two pictures of the same view can differ by a caret or by a digit of the time. */
const TOLERANCE = 100;

/**
 * Keeps a picture, and beside it the texts of this project that can be read in it, which
 * `npm run lint` compares with their source. Unless `npm run pictures` runs, it only finds them.
 *
 * @param path Without the end: `docs/images/lifelog`.
 * @param panel The node and the parameters of a panel.
 * @throws Error if nothing of this project can be read in the picture.
 */
export function keepPicture(
	path: string,
	theme: 'light' | 'dark',
	{ png, seen }: Taken,
	panel?: PanelOf,
): void {
	const texts = textsIn(path, seen, panel);
	if (texts.length === 0) throw new Error(`Nothing of this project can be read in ${path}`);
	if (!isMakingPictures) return;
	replacePicture(`${path}${theme === 'dark' ? '.dark' : ''}.png`, png);
	writeFileSync(`${path}.json`, `${JSON.stringify({ ...panel, texts }, null, '\t')}\n`);
}

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
