import { beginning } from '../../lifelog/text.ts';

const MAX_LENGTH = 200;
/** UTF-16 units to show before the place. */
const CONTEXT = 60;

/** The part of a text around a place, in UTF-16 units. A short text stays whole. */
export function around(text: string, at: number): string {
	if (text.length <= MAX_LENGTH) return text;
	const from = at - CONTEXT;
	const blank = text.indexOf(' ', Math.max(0, from)) + 1;
	const start = from <= 0 ? 0 : blank > 0 && blank <= at ? blank : characterAt(text, from);
	const part = beginning(text.slice(start), MAX_LENGTH).trimEnd();
	const [before, after] = [start > 0, start + part.length < text.trimEnd().length];
	return `${before ? '…' : ''}${part}${after ? '…' : ''}`;
}

const characterAt = (text: string, at: number) =>
	/[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
