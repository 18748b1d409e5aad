import { temporaryFolder } from './server.mts';

/** Set by `npm run test:n8n -- --update-pictures`. */
export const UPDATE_PICTURES = 'UPDATE_PICTURES';

/** Where a suite puts its pictures: the folder of the repository only if they are to change. */
export async function picturesFolder(ofRepository: string): Promise<string> {
	if (process.env[UPDATE_PICTURES]) return ofRepository;
	return (await temporaryFolder('lifelog-pictures')).path;
}
