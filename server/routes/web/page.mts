import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import helmet from '@fastify/helmet';
import serveStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../service.mts';
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

const HTML = 'text/html; charset=utf-8';

/**
 * Serves the page that was built into `folder`, at the address of each view. Over plain HTTP beyond
 * this machine it only explains what to do.
 *
 * @returns What shows a browser that there is nothing at its address.
 * @throws Error of the file system if the page isn't built.
 */
export async function addPage(
	app: FastifyInstance,
	folder: string,
	options: SessionOptions,
): Promise<NonNullable<Service['showNotFound']>> {
	const html = await readFile(join(folder, 'index.html'), 'utf8');
	await app.register(helmet, {
		// Only for the page.
		global: false,
		contentSecurityPolicy: { useDefaults: false, directives: DIRECTIVES },
		// A proxy that serves by HTTPS says this, and not for those who use plain HTTP at home.
		strictTransportSecurity: false,
	});
	await app.register(async (page) => {
		page.addHook('onRequest', async (request, reply) => secure(request, reply));
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
				reply.type(HTML);
				return isOnHttp(request, options) ? HTTP_PAGE : html;
			});
		}
	});
	const notFound = notFoundPage(html);
	return (request, reply) => {
		if (!asksForPage(request)) return undefined;
		secure(request, reply);
		return reply.code(404).type(HTML).send(notFound);
	};
}

/** Sets the headers by which a browser is strict. */
function secure({ protocol }: FastifyRequest, reply: FastifyReply): void {
	reply.helmet();
	// Over plain HTTP browsers ignore it, and log a warning.
	if (protocol === 'http') reply.raw.removeHeader('cross-origin-opener-policy');
}

/** Whether a browser opens an address that isn't the API's. Other clients accept JSON beside HTML. */
function asksForPage({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
	return (
		['GET', 'HEAD'].includes(method) &&
		!/^\/(v\d+|mcp|web)\b/.test(url) &&
		accept.includes('text/html') &&
		!accept.includes('json')
	);
}

/** A page of its own, so that it needs neither scripts nor a session. */
function notFoundPage(html: string): string {
	// The name of the built style changes with its content.
	const [style] = /<link rel="stylesheet"[^>]*>/.exec(html)!;
	return `<!doctype html>
<html lang="en">
	<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<title>Not found · Lifelogs</title>
		${style}
	</head>
	<body>
		<main>
			<h1>Not found</h1>
			<p>This page doesn't exist. <a href="/">Go to the calendar</a></p>
		</main>
	</body>
</html>
`;
}

const HTTP_PAGE = `<!doctype html>
<html lang="en">
	<meta charset="utf-8">
	<meta name="viewport" content="width=device-width">
	<title>Lifelogs</title>
	<h1>This page needs HTTPS</h1>
	<p>Over plain HTTP, others on the network could read your key and your lifelogs.</p>
	<p>Put a reverse proxy such as Caddy in front of lifelog-server, and start it with <code>--trust-proxy</code>.</p>
	<p>On a home network that you trust, start it with <code>--allow-http</code>.</p>
</html>
`;
