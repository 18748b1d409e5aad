import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { temporaryFolder } from '../server/sources.mts';
import { replacePicture } from '../support/pictures.mts';

/** A white picture with so many black pixels in a block. */
function picture(black: number, width = 200): Buffer {
	const png = new PNG({ width, height: 100 });
	png.data.fill(255);
	for (let pixel = 0; pixel < black; pixel++) {
		const at = (Math.floor(pixel / 20) * width + (pixel % 20)) * 4;
		png.data.fill(0, at, at + 3);
	}
	return PNG.sync.write(png);
}

test('a picture is replaced only if the new one looks different', () => {
	const path = join(temporaryFolder(), 'view.png');
	const pictures: [what: string, picture: Buffer, isReplaced: boolean][] = [
		['none is there', picture(0), true],
		['the same', picture(0), false],
		['with a caret', picture(40), false],
		['with another word', picture(400), true],
		['of another size', picture(400, 220), true],
	];
	for (const [what, next, isReplaced] of pictures) {
		const before = existsSync(path) ? readFileSync(path) : undefined;
		expect([what, replacePicture(path, next)]).toEqual([what, isReplaced]);
		expect(readFileSync(path)).toEqual(isReplaced ? next : before);
	}
});
