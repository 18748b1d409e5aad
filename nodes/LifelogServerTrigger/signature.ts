import { createHmac, timingSafeEqual } from 'node:crypto';

/** How much the clocks of lifelog-server and n8n may differ. */
const TOLERANCE_S = 5 * 60;
const PREFIX = /^whsec_/;

/** The headers of a delivery (Standard Webhooks). */
export interface SignedHeaders {
	id: unknown;
	timestamp: unknown;
	signature: unknown;
}

/**
 * Compares the signatures of a delivery with its secret, in constant time.
 *
 * @param secret `whsec_` and the key in base64.
 * @param body As it was sent, byte for byte.
 * @param now Epoch ms.
 * @returns Why it isn't taken; undefined if it is genuine and its time is right.
 */
export function whyRefused(
	secret: string,
	{ id, timestamp, signature }: SignedHeaders,
	body: Buffer,
	now: number,
): string | undefined {
	const isSigned = [id, timestamp, signature].every((header) => typeof header === 'string');
	if (!isSigned || !/^\d{1,12}$/.test(String(timestamp))) return 'It is not signed';
	const key = Buffer.from(secret.replace(PREFIX, ''), 'base64');
	// An empty key is known to everyone.
	if (key.length === 0) return 'Its secret is not known';
	const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
	const isGenuine = String(signature)
		.split(' ')
		.filter((each) => each.startsWith('v1,'))
		.map((each) => Buffer.from(each.slice('v1,'.length), 'base64'))
		.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
	if (!isGenuine) return 'Its signature is wrong';
	const isNow = Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_S;
	return isNow ? undefined : 'Its time differs by more than 5 minutes from the clock of n8n';
}
