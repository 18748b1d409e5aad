// What Notion publishes about requests: developers.notion.com, "Request limits" and "Block".

const MAX_IN_ARRAY = 100;
const MAX_CONTENT_LENGTH = 2000;
const MAX_BLOCKS = 1000;
const MAX_REQUEST_BYTES = 500_000;
/** Blocks in blocks in blocks: what one request may nest. */
const MAX_LEVELS = 2;

interface Block {
	object?: unknown;
	type: string;
	[content: string]: unknown;
}

interface Content {
	rich_text: unknown;
	children?: Block[];
}

/**
 * What Notion would not take of the body of a request that creates a page or appends to a block;
 * empty when all is well. Characters are counted as Notion does, in UTF-16 units.
 */
export function problemsOfNotionRequest(body: {
	properties?: Record<string, { title?: unknown }>;
	children: unknown;
}): string[] {
	const problems = Object.entries(body.properties ?? {}).flatMap(([name, { title }]) =>
		problemsOfRichTexts(`properties.${name}`, title),
	);
	const size = Buffer.byteLength(JSON.stringify(body));
	if (size > MAX_REQUEST_BYTES) problems.push(`${size} bytes`);
	const count = countOf(body.children as Block[]);
	if (count > MAX_BLOCKS) problems.push(`${count} blocks`);
	return [...problems, ...problemsOfBlocks('children', body.children, 0)];
}

function problemsOfBlocks(name: string, blocks: unknown, level: number): string[] {
	if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > MAX_IN_ARRAY) {
		return [`${name}: not 1 to ${MAX_IN_ARRAY} blocks`];
	}
	if (level > MAX_LEVELS) return [`${name}: nested too deep`];
	return blocks.flatMap((block: Block, index) => {
		const place = `${name}[${index}]`;
		const content = contentOf(block);
		const keys = Object.keys(block).filter((key) => key !== 'object');
		if (!content || block.object !== 'block' || keys.length !== 2) return [`${place}: no block`];
		const mayHold = block.type === 'paragraph' || block.type.endsWith('list_item');
		return [
			...problemsOfRichTexts(place, content.rich_text),
			...(content.children === undefined
				? []
				: mayHold
					? problemsOfBlocks(`${place}.children`, content.children, level + 1)
					: [`${place}: may hold no blocks`]),
		];
	});
}

const TYPES = ['paragraph', 'heading_1', 'heading_2', 'heading_3', 'bulleted_list_item'];

function contentOf(block: Block): Content | undefined {
	return TYPES.includes(block.type) ? (block[block.type] as Content | undefined) : undefined;
}

function countOf(blocks: Block[] = []): number {
	return blocks.reduce((sum, block) => sum + 1 + countOf(contentOf(block)?.children), 0);
}

function problemsOfRichTexts(name: string, texts: unknown): string[] {
	if (!Array.isArray(texts) || texts.length === 0 || texts.length > MAX_IN_ARRAY) {
		return [`${name}: not 1 to ${MAX_IN_ARRAY} rich texts`];
	}
	return texts.flatMap(({ type, text }: { type: unknown; text?: { content?: unknown } }) => {
		const content = text?.content;
		if (type !== 'text' || typeof content !== 'string' || content === '') {
			return [`${name}: not a text`];
		}
		if (content.length > MAX_CONTENT_LENGTH) return [`${name}: ${content.length} characters`];
		return /\p{Surrogate}/u.test(content) ? [`${name}: half a character`] : [];
	});
}
