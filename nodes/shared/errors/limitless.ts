/** The credential's default Base URL. */
export const LIMITLESS_URL = 'https://api.limitless.ai';

const END =
	'Limitless promised support until the end of 2026. If you archived your lifelogs, set the Base URL to your lifelog-server.';

/** What a request to a service got instead of its data. */
export interface Fault {
	/** HTTP status. */
	statusCode?: number;
	isHtml?: boolean;
	/** Whether the request was for one lifelog or chat, which may be what is missing. */
	isOfEntry?: boolean;
	/** Code of the connection's error, if there was no answer. */
	code?: string;
}

/** What to do if Limitless has ended: said of a fault that such an end would cause, at its address. */
export function adviceOnEnd(baseUrl: string, fault: Fault): string | undefined {
	return baseUrl === LIMITLESS_URL && isLikeEnd(fault) ? END : undefined;
}

/** A proxy on the way has its own pages, too: 407, and 5xx while the service is down. */
function isLikeEnd({ statusCode = 0, isHtml, isOfEntry, code }: Fault): boolean {
	if (code !== undefined) return code === 'ENOTFOUND' || code === 'ECONNREFUSED';
	if (statusCode === 407 || statusCode >= 500) return false;
	const isMoved = statusCode >= 300 && statusCode < 400;
	const isRefused = [401, 403, 410].includes(statusCode) || (statusCode === 404 && !isOfEntry);
	return isMoved || isRefused || isHtml === true;
}
