import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import helmet from '@fastify/helmet';
import serveStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../util/errors.mts';
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
			immutable: true,
			maxAge: '1y',
		});
		page.addHook('onRequest', async (request, reply) => {
			// Over plain HTTP browsers ignore it, and log a warning.
			if (request.protocol === 'http') reply.raw.removeHeader('cross-origin-opener-policy');
		});
		page.setErrorHandler(async (error, request, reply) => {
			if (!(error instanceof ApiError && wantsHtml(request))) throw error;
			const text = `<h1>This page can't be shown</h1><p>${asText(error.message)}.</p>`;
			return reply.code(error.statusCode).type(HTML).send(explanation(html, text));
		});
		for (const url of [...VIEWS, ...VIEWS.slice(1).map((view) => `${view}/`)]) {
			page.get(url, { exposeHeadRoute: true }, async (request, reply) => {
				requireOwnHost(request, options);
				reply.type(HTML);
				return isOnHttp(request, options) ? explanation(html, HTTPS_IS_NEEDED) : html;
			});
		}
		page.get('/*', { exposeHeadRoute: true }, async (request, reply) => {
			if (!wantsHtml(request)) return reply.callNotFound();
			requireOwnHost(request, options);
			return reply.code(404).type(HTML).send(explanation(html, NOT_FOUND));
		});
	});
}

const HTML = 'text/html; charset=utf-8';

/** Whether a browser asks for something to show. The API answers in JSON, whoever asks. */
const wantsHtml = ({ headers, url }: FastifyRequest) =>
	headers.accept?.includes('text/html') === true && !/^\/(v1|mcp)\b/.test(url);

const asText = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A page that only explains something, in the style of the built one. */
function explanation(html: string, text: string): string {
	const [style] = /<link rel="stylesheet"[^>]*>/.exec(html)!;
	return `<!doctype html>
<html lang="en">
	<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<title>Lifelogs</title>
		${style}
	</head>
	<body>
		<main class="sign-in">
			${text}
		</main>
	</body>
</html>
`;
}

const NOT_FOUND = `<h1>Not found</h1><p>There is no such page. <a href="/">Go to the calendar</a></p>`;

const HTTPS_IS_NEEDED = `<h1>This page needs HTTPS</h1>
			<p>Over plain HTTP, others on the network could read your key and your lifelogs.</p>
			<p>Put a reverse proxy such as Caddy in front of lifelog-server, and start it with <code>--trust-proxy</code>.</p>
			<p>In a home network that you trust, start it with <code>--allow-http</code>.</p>`;
