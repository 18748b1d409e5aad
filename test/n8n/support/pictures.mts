import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { replacePicture, UPDATE_PICTURES } from '../../support/pictures.mts';
import { temporaryFolder } from './server.mts';

/**
 * Where a suite puts its pictures. After its tests, those that look different replace the ones of the
 * repository, if that was asked for.
 */
export async function picturesFolder(ofRepository: string): Promise<string> {
	const { path } = await temporaryFolder('lifelog-pictures');
	after(() => {
		if (!process.env[UPDATE_PICTURES]) return;
		for (const name of readdirSync(path)) {
			replacePicture(join(ofRepository, name), readFileSync(join(path, name)));
		}
	});
	return path;
}
