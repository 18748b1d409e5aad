import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { changesSince, textsIn, type PanelOf } from './pictures/sources.mts';
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

const SEARCH: PanelOf = { node: 'lifelog', parameters: { operation: 'search', limit: 20 } };

/** A picture of each kind, and what can be read in it: texts of this project, and others. */
const PICTURES: { path: string; own: string[]; others: string[]; panel?: PanelOf }[] = [
	{
		path: 'docs/images/lifelog',
		own: ['Query', 'Period', 'Any Time'],
		others: ['20', 'Fixed', 'Period is'],
		panel: SEARCH,
	},
	{ path: 'docs/images/nodes', own: ['Lifelog', 'Lifelog Audio'], others: ['Slack'] },
	{ path: 'docs/images/panel', own: ['Get daily summary'], others: ['Send an Email'] },
	{ path: 'docs/images/credential', own: ['API Key', 'Base URL'], others: ['Save'] },
	{ path: 'examples/images/full-archive', own: ['Set this', 'Settings'], others: ['Execute'] },
	{ path: 'docs/images/web-search', own: ['Your days', 'Chats'], others: ['The garden'] },
];

test.each(PICTURES)(
	'$path: only texts of this project are kept, and one that has changed is named',
	({ path, own, others, panel }) => {
		expect(textsIn(path, [...others, ...own], panel)).toEqual(expect.arrayContaining(own));
		expect(textsIn(path, others, panel)).toEqual([]);
		const old = `${own[0]} of old`;
		const changes = changesSince(path, { ...panel, texts: [old] });
		expect(changes).toContain(`${path}.png shows "${old}", which has changed`);
		// What else the page shows is known only in a browser.
		const named = own.filter((text) => changes.includes(`${path}.png doesn't show "${text}"`));
		expect(named).toEqual(path.includes('web-') ? [] : own);
	},
);

test('a text of the page that is gone in one of the places where it was is named', () => {
	const path = 'docs/images/web-calendar';
	const texts = textsIn(path, ['Cancel', '12 or more']);
	expect(changesSince(path, { texts })).toEqual([]);
	expect(changesSince(path, { texts: [...texts, 'Cancel'] })).toEqual([
		`${path}.png shows "Cancel", which has changed`,
	]);
});
