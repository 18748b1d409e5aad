const MASK = '[API key]';
/** A shorter key may be part of any word, and keys of the service are longer. */
const SHORTEST_KEY = 8;

/** A character as a URL, JSON, a program or HTML may write it, read where a key may go on. */
const ESCAPED =
	/%([\da-f]{2})|\\(?:u00|x)([\da-f]{2})|&#x0{0,5}([\da-f]{2});|&#0{0,5}([1-9]\d{0,2});|&(amp|lt|gt|quot|apos);|\\([^\da-z])/iy;
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ESCAPE_STARTS = '%\\&';
const IN_BASE64 = /[\w+/=-]/;

/**
 * A text of the service without the API key, which it may quote: as it is, escaped for a URL, JSON
 * or HTML, or as base64, alone or within something longer. A key shorter than 8 characters is left.
 */
export function withoutKey(apiKey: string, text: string): string {
	if (apiKey.length < SHORTEST_KEY) return text;
	const plain = masked(text.replaceAll(apiKey, MASK), apiKey);
	return encodings(apiKey).reduce((rest, secret) => masked(rest, secret, IN_BASE64), plain);
}

/** @param around What goes with the secret where it stands beside it. */
function masked(text: string, secret: string, around?: RegExp): string {
	let result = '';
	let done = 0;
	for (let at = 0; at < text.length; at++) {
		if (text[at] !== secret[0] && !ESCAPE_STARTS.includes(text[at])) continue;
		let end = endOf(secret, text, at);
		if (end === undefined) continue;
		let start = at;
		while (around && start > done && around.test(text[start - 1])) start--;
		while (around && end < text.length && around.test(text[end])) end++;
		result += text.slice(done, start) + MASK;
		done = end;
		at = end - 1;
	}
	return result + text.slice(done);
}

/**
 * Where a secret ends that begins at `start`, each of its characters escaped or not. A text that was
 * made one line has a blank where a line broke, and one where the secret may have several.
 */
function endOf(secret: string, text: string, start: number): number | undefined {
	let at = start;
	for (const character of secret) {
		if (character !== ' ' && text[at] === ' ' && at > start) at++;
		ESCAPED.lastIndex = at;
		const match = ESCAPE_STARTS.includes(text[at] ?? ' ') ? ESCAPED.exec(text) : null;
		if (match && characterOf(match) === character) at += match[0].length;
		else if (text[at] === character) at++;
		else if (character !== ' ') return undefined;
	}
	return at;
}

function characterOf([, percent, program, hex, decimal, name, itself]: RegExpExecArray): string {
	const code = percent ?? program ?? hex;
	if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
	if (decimal !== undefined) return String.fromCharCode(Number(decimal));
	return name === undefined ? itself : NAMED[name.toLowerCase()];
}

/**
 * What base64 makes of a key wherever in a text it stands: the characters that it alone decides, at
 * each of the three offsets, in both alphabets.
 */
function encodings(key: string): string[] {
	return [0, 1, 2].flatMap((offset) => {
		const bytes = Buffer.from(' '.repeat(offset) + key);
		const from = Math.ceil((offset * 8) / 6);
		const to = Math.floor((bytes.length * 8) / 6);
		return [...new Set([bytes.toString('base64'), bytes.toString('base64url')])].map((encoded) =>
			encoded.slice(from, to),
		);
	});
}
