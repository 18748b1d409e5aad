// What Slack publishes about messages: docs.slack.dev, "chat.postMessage" and "Block Kit".
import { isDeepStrictEqual } from 'node:util';

const MAX_BLOCKS = 50;
const MAX_HEADER_LENGTH = 150;
const MAX_SECTION_LENGTH = 3000;
/** Slack's advice for `text`; it cuts off what is beyond 40,000. */
const MAX_TEXT_LENGTH = 4000;
/** Not published: what chat.postMessage was seen to refuse begins a little above, in JSON. */
const MAX_BLOCKS_BYTES = 12_000;

/**
 * What Slack would not take of a message of header and section blocks, and what it would take for
 * markup of its own; empty when all is well. Characters are counted as UTF-16 units, of which
 * there are never fewer than of what Slack counts.
 */
export function problemsOfSlackMessage({ text, blocks }: { text: unknown; blocks: unknown }) {
	const problems = [...problemsOfMarkup('text', text, MAX_TEXT_LENGTH)];
	if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > MAX_BLOCKS) {
		return [...problems, `blocks: not 1 to ${MAX_BLOCKS} of them`];
	}
	const size = Buffer.byteLength(JSON.stringify(blocks));
	if (size > MAX_BLOCKS_BYTES) problems.push(`blocks: ${size} bytes in all`);
	return [...problems, ...blocks.flatMap((block, index) => problemsOfBlock(`${index}`, block))];
}

interface Block {
	type: unknown;
	text?: { type: unknown; text: unknown };
}

function problemsOfBlock(name: string, block: Block): string[] {
	const { text } = block;
	if (block.type === 'header') {
		const right = { type: 'header', text: { type: 'plain_text', text: text?.text } };
		if (!isDeepStrictEqual(block, right)) return [`${name}: not a header`];
		return problemsOfText(name, text?.text, MAX_HEADER_LENGTH);
	}
	const right = {
		type: 'section',
		text: { type: 'mrkdwn', text: text?.text, verbatim: true },
		expand: true,
	};
	if (!isDeepStrictEqual(block, right)) return [`${name}: not a section`];
	return problemsOfMarkup(name, text?.text, MAX_SECTION_LENGTH);
}

function problemsOfMarkup(name: string, text: unknown, max: number): string[] {
	const problems = problemsOfText(name, text, max);
	if (problems.length > 0) return problems;
	if (/[<>]|&(?!(amp|lt|gt);)/.test(String(text))) problems.push(`${name}: not escaped`);
	return problems;
}

function problemsOfText(name: string, text: unknown, max: number): string[] {
	if (typeof text !== 'string' || text.trim() === '') return [`${name}: no text`];
	if (text.length > max) return [`${name}: ${text.length} characters`];
	return /\p{Surrogate}/u.test(text) ? [`${name}: half a character`] : [];
}
