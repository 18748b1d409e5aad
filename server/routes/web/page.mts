import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import helmet from '@fastify/helmet';
import serveStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { isOnHttp, requireOwnHost, type SessionOptions } from './session.mts';

/** Addresses of views; the page itself finds out which one to show. */
const VIEWS = [
	...['/', '/days/:day', '/lifelogs/:id', '/search', '/chats', '/chats/:id'],
	...['/recordings', '/status'],
];

/** Everything comes from this server, and nothing is inline. */
const DIRECTIVES = {
	'default-src': ["'none'"],
	...Object.fromEntries(
		['script', 'style', 'img', 'media', 'connect', 'font'].map((kind) => [
			`${kind}-src`,
			["'self'"],
		]),
	),
	'form-action': ["'self'"],
	'frame-ancestors': ["'none'"],
	'base-uri': ["'none'"],
};

/**
 * Serves the page that was built into `folder`, at the address of each view. Over plain HTTP beyond
 * this machine it only explains what to do.
 *
 * @throws Error of the file system if the page isn't built.
 */
export async function addPage(
	app: FastifyInstance,
	folder: string,
	options: SessionOptions,
): Promise<void> {
	const html = await readFile(join(folder, 'index.html'), 'utf8');
	await app.register(async (page) => {
		await page.register(helmet, {
			contentSecurityPolicy: { useDefaults: false, directives: DIRECTIVES },
			// A proxy that serves by HTTPS says this, and not for those who use plain HTTP at home.
			strictTransportSecurity: false,
		});
		await page.register(serveStatic, {
			root: join(folder, 'assets'),
			prefix: '/assets/',
			preCompressed: true,
			immutable: true,
			maxAge: '1y',
		});
		for (const url of VIEWS) {
			page.get(url, { exposeHeadRoute: true }, async (request, reply) => {
				requireOwnHost(request, options);
				reply.type('text/html; charset=utf-8');
				// Over plain HTTP browsers ignore it, and log a warning.
				if (request.protocol === 'http') reply.raw.removeHeader('cross-origin-opener-policy');
				return isOnHttp(request, options) ? HTTP_PAGE : html;
			});
		}
	});
}

const HTTP_PAGE = `<!doctype html>
<html lang="en">
	<meta charset="utf-8">
	<meta name="viewport" content="width=device-width">
	<title>Lifelogs</title>
	<h1>This page needs HTTPS</h1>
	<p>Over plain HTTP, others on the network could read your key and your lifelogs.</p>
	<p>Put a reverse proxy such as Caddy in front of lifelog-server, and start it with <code>--trust-proxy</code>.</p>
	<p>In a home network that you trust, start it with <code>--allow-http</code>.</p>
</html>
`;
