import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import helmet from '@fastify/helmet';
import serveStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../service.mts';
import { hostName } from '../auth/hosts.mts';
import { isOnHttp, isOwnHost, type SessionOptions } from './session.mts';

/** Paths of views. The page itself decides what to show. */
const VIEWS = [
	...['/', '/days/:day', '/lifelogs/:id', '/search', '/chats', '/chats/:id'],
	...['/people', '/person', '/words', '/recordings', '/status', '/connect', '/add'],
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
 * Serves the built page in `folder` at the path of each view. Over plain HTTP from other machines,
 * it only explains what to do.
 *
 * @returns A function that shows browsers a page for an unknown path.
 * @throws Error of the file system if the page isn't built.
 */
export async function addPage(
	app: FastifyInstance,
	folder: string,
	options: SessionOptions,
): Promise<NonNullable<Service['showNotFound']>> {
	const html = await readFile(join(folder, 'index.html'), 'utf8');
	// The name of the built style sheet changes with its content.
	const [style] = /<link rel="stylesheet"[^>]*>/.exec(html)!;
	await app.register(helmet, {
		// Only for the page.
		global: false,
		contentSecurityPolicy: { useDefaults: false, directives: DIRECTIVES },
		// An HTTPS proxy sets it; it must not reach users of plain HTTP at home.
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
				reply.type(HTML);
				if (!isOwnHost(request, options)) {
					reply.code(403);
					return plainPage(style, 'Unknown name', unknownName(hostName(request.host)));
				}
				if (isOnHttp(request, options)) {
					return plainPage(style, 'This page needs HTTPS', NEEDS_HTTPS);
				}
				return html;
			});
		}
	});
	const notFound = plainPage(style, 'Not found', NOT_FOUND);
	return (request, reply) => {
		if (!asksForPage(request)) return undefined;
		secure(request, reply);
		return reply.code(404).type(HTML).send(notFound);
	};
}

/** Sets security headers. */
function secure({ protocol }: FastifyRequest, reply: FastifyReply): void {
	reply.helmet();
	// Over plain HTTP, browsers ignore it and log a warning.
	if (protocol === 'http') reply.raw.removeHeader('cross-origin-opener-policy');
}

/** Whether a browser opens a path that isn't the API's. Other clients accept JSON besides HTML. */
function asksForPage({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
	return (
		['GET', 'HEAD'].includes(method) &&
		!/^\/(v\d+|mcp|web)\b/.test(url) &&
		accept.includes('text/html') &&
		!accept.includes('json')
	);
}

/** A separate page that needs neither scripts nor a session. */
function plainPage(style: string, title: string, content: string): string {
	return `<!doctype html>
<html lang="en">
	<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<meta name="color-scheme" content="light dark">
		<title>${title} · Lifelogs</title>
		${style}
	</head>
	<body>
		<main>
			<h1>${title}</h1>
			${content}
		</main>
	</body>
</html>
`;
}

const NOT_FOUND = `<p>This page doesn't exist. <a href="/">Go to the calendar</a></p>`;

const NEEDS_HTTPS = `<p>Over plain HTTP, others on the network could read your key and your lifelogs.</p>
			<p>Put a reverse proxy such as Caddy in front of lifelog-server. Then start it with the proxy's address and the name that browsers use:</p>
			<pre><code>lifelog-server serve &lt;folder&gt; --trust-proxy 127.0.0.1 --allowed-hosts lifelogs.example.org</code></pre>
			<p>On a home network that you trust, start it like this instead:</p>
			<pre><code>lifelog-server serve &lt;folder&gt; --allow-http</code></pre>`;

/** Explains how to allow a host name. Anyone may have chosen the name. */
function unknownName(name: string): string {
	const shown = name.replaceAll(/[^\w.:[\]-]/g, '?');
	return `<p>This server doesn't know the name <code>${shown}</code>.</p>
			<p>If it's yours, start the server with it:</p>
			<pre><code>lifelog-server serve &lt;folder&gt; --allowed-hosts ${shown}</code></pre>`;
}
