/** The service of which lifelogs come unless another address is chosen. */
export const LIMITLESS_URL = 'https://api.limitless.ai';

export const LIMITLESS_END = 'Limitless promised support until the end of 2026.';

/** What a request got in place of data. */
export interface Fault {
	/** HTTP status. */
	statusCode?: number;
	isHtml?: boolean;
	/** Whether the request was for one lifelog or chat, which may be what is missing. */
	isOfEntry?: boolean;
	/** Code of the connection's error, if there was no answer. */
	code?: string;
}

/**
 * Whether a fault may be the end of Limitless: it is at its address, and lasts. A proxy on the way has
 * pages of its own: 407, and 5xx while the service is down.
 */
export function isLikeEndOfLimitless(url: string, fault: Fault): boolean {
	const { statusCode = 0, isHtml, isOfEntry, code } = fault;
	if (url !== LIMITLESS_URL || statusCode === 407 || statusCode >= 500) return false;
	if (code !== undefined) return code === 'ENOTFOUND' || code === 'ECONNREFUSED';
	const isMoved = statusCode >= 300 && statusCode < 400;
	const isRefused = [401, 403, 410].includes(statusCode) || (statusCode === 404 && !isOfEntry);
	return isMoved || isRefused || isHtml === true;
}
