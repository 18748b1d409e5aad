import { execFileSync } from 'node:child_process';
import { request, type IncomingHttpHeaders } from 'node:http';

/** Builds the page of lifelog-server if it isn't there. */
export function buildPage(): void {
	execFileSync(process.execPath, ['server/page/buildIfNeeded.mts'], { stdio: 'pipe' });
}

/** What a server answered. */
export interface Answer {
	status: number;
	headers: IncomingHttpHeaders;
	body: Buffer;
	/** The body as JSON. */
	json: () => any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** Sends a request with any headers, `Host` and `Origin` included, which `fetch` may not set. */
export async function send(
	url: string,
	path: string,
	{
		method = 'GET',
		headers = {},
		body,
	}: { method?: string; headers?: Record<string, string>; body?: object } = {},
): Promise<Answer> {
	const text = body && JSON.stringify(body);
	const sent = request(url + path, {
		method,
		headers: { ...(text && { 'content-type': 'application/json' }), ...headers },
	});
	return await new Promise((resolve, reject) => {
		sent.once('error', reject);
		sent.once('response', (response) => {
			const pieces: Buffer[] = [];
			response.on('data', (piece: Buffer) => pieces.push(piece));
			response.once('error', reject);
			response.once('end', () => {
				const whole = Buffer.concat(pieces);
				resolve({
					status: response.statusCode!,
					headers: response.headers,
					body: whole,
					json: () => JSON.parse(whole.toString()),
				});
			});
		});
		sent.end(text);
	});
}
