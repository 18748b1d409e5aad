import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { refusePages } from '../refusePages.mts';
import type { Service } from '../service.mts';
import type { Serving } from '../../index/serving.mts';
import type { Endpoints } from '../endpoints.mts';
import { addArchiveState, type ArchivePlaces } from './archiveState.mts';
import { addConnect } from './connect.mts';
import { addPageData, type ServedPage } from './data.mts';
import { addPage } from './files.mts';
import { addWays, type Ways } from './ways.mts';
import { addSessions, type SessionOptions } from './session.mts';

/** Folder of the built page. In a checkout, `npm run build:web` builds it. */
const FOLDER = fileURLToPath(new URL('../../page/dist', import.meta.url));

/**
 * Adds the page. Sets the service's functions for sessions and unknown paths. If the page isn't
 * built, requests by scripts of websites are rejected.
 *
 * @returns Whether there is a page.
 */
export async function addWeb(
	app: FastifyInstance,
	service: Service,
	serving: Serving,
	options: {
		session: SessionOptions;
		page: ServedPage;
		publicUrl: string | undefined;
		endpoints: Endpoints;
		ways: Ways | undefined;
		archive: ArchivePlaces;
	},
): Promise<boolean> {
	if (!existsSync(`${FOLDER}/index.html`)) {
		refusePages(app);
		return false;
	}
	service.visitorOfSession = await addSessions(app, options.session);
	service.showNotFound = await addPage(app, FOLDER, options.session);
	await addPageData(app, service, serving, options);
	await addConnect(app, service, options.session.access, options.publicUrl);
	await addArchiveState(app, service, options.archive);
	if (options.ways) await addWays(app, service, options.ways);
	return true;
}
