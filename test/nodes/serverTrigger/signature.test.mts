// The check of a delivery's signature: the vectors of Standard Webhooks, and whatever differs from them.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { whyRefused } from '../../../nodes/LifelogServerTrigger/signature.ts';
import { seedOr, size } from '../../support/size.mts';

/** The vector of the specification's libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const SIGNED_AT = 1614265330;
const VECTOR = {
	id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
	timestamp: String(SIGNED_AT),
	signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const OTHER = 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';

interface Change {
	headers?: Partial<Record<keyof typeof VECTOR, unknown>>;
	secret?: string;
	body?: string;
	/** Seconds. */
	now?: number;
}

const check = ({ headers, secret = SECRET, body = BODY, now = SIGNED_AT }: Change) =>
	whyRefused(secret, { ...VECTOR, ...headers }, Buffer.from(body), now * 1000);

/** Signs it as its sender would. */
function signed(id: string, timestamp: string, body: string, secret = SECRET) {
	const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
	const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
	return { id, timestamp, signature: `v1,${signature}` };
}

test.each<[string, Change]>([
	['as the specification signs it', {}],
	['the secret without its prefix', { secret: SECRET.slice('whsec_'.length) }],
	[
		'among other signatures',
		{ headers: { signature: `v1,${OTHER} v2,${OTHER} ${VECTOR.signature} v1,${OTHER}` } },
	],
	['after one of a key pair', { headers: { signature: `v1a,${OTHER} ${VECTOR.signature}` } }],
	['5 minutes old', { now: SIGNED_AT + 300 }],
	['5 minutes in the future', { now: SIGNED_AT - 300 }],
	['an empty body', { headers: signed('msg_1', String(SIGNED_AT), ''), body: '' }],
])('is taken: %s', (_what, change) => {
	expect(check(change)).toBeUndefined();
});

const UNSIGNED = 'It is not signed';
const WRONG = 'Its signature is wrong';
const UNKNOWN = 'Its secret is not known';
const LATE = 'Its time differs by more than 5 minutes from the clock of n8n';

test.each<[string, Change, string]>([
	['no ID', { headers: { id: undefined } }, UNSIGNED],
	['no time', { headers: { timestamp: undefined } }, UNSIGNED],
	['no signature', { headers: { signature: undefined } }, UNSIGNED],
	['a time that is a word', { headers: { timestamp: 'hello' } }, UNSIGNED],
	['a time with a sign', { headers: { timestamp: `+${SIGNED_AT}` } }, UNSIGNED],
	['a header that came twice', { headers: { signature: [VECTOR.signature] } }, UNSIGNED],
	['another signature', { headers: { signature: 'v1,dawfeoifkpqwoekfpqoekf' } }, WRONG],
	['an empty signature', { headers: { signature: 'v1,' } }, WRONG],
	['part of the signature', { headers: { signature: VECTOR.signature.slice(0, 8) } }, WRONG],
	['another version', { headers: { signature: VECTOR.signature.replace('v1', 'v2') } }, WRONG],
	['no version', { headers: { signature: VECTOR.signature.slice('v1,'.length) } }, WRONG],
	['another ID', { headers: { id: 'msg_2' } }, WRONG],
	['another time', { headers: { timestamp: String(SIGNED_AT + 1) } }, WRONG],
	['another body', { body: BODY.replace(' ', '') }, WRONG],
	['another secret', { secret: `whsec_${OTHER}` }, WRONG],
	['no secret', { secret: '' }, UNKNOWN],
	['an empty secret', { secret: 'whsec_', headers: signed('a', '1', BODY, 'whsec_') }, UNKNOWN],
	['an old one', { now: SIGNED_AT + 301 }, LATE],
	['one of the future', { now: SIGNED_AT - 301 }, LATE],
	['a forged old one', { now: SIGNED_AT + 301, body: '{}' }, WRONG],
])('is refused: %s', (_what, change, reason) => {
	expect(check(change)).toBe(reason);
});

test('whatever a sender signs is taken, and with one changed byte it is refused', () => {
	const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
	fc.assert(
		fc.property(
			fc.uint8Array({ minLength: 24, maxLength: 64 }),
			fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
			bytes,
			fc.nat(),
			(key, id, content, place) => {
				const secret = `whsec_${Buffer.from(key).toString('base64')}`;
				const body = Buffer.from(content);
				const timestamp = String(SIGNED_AT);
				const signature = createHmac('sha256', key)
					.update(Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]))
					.digest('base64');
				const headers = { id, timestamp, signature: `v1,${signature}` };
				const checked = () => whyRefused(secret, headers, body, SIGNED_AT * 1000);
				expect(checked()).toBeUndefined();
				body[place % body.length] ^= 1;
				expect(checked()).toBe(WRONG);
			},
		),
		{ seed: seedOr(62), numRuns: size(100, 500) },
	);
});
