import { inGroups, jsonBytes } from './groups.ts';
import type { Entry, Summary } from './summary.ts';
import { splitText } from '../text.ts';
import { leadOf, listedOf, STAR, wordingOf } from './wording.ts';
import type { Words } from './words.ts';

interface RichText {
	type: 'text';
	text: { content: string };
	annotations?: { bold: true };
}

type Block<Type extends string, Content = { rich_text: RichText[] }> = {
	object: 'block';
	type: Type;
} & Record<Type, Content>;

type Leaf = Block<'bulleted_list_item'>;
type Item = Block<'bulleted_list_item', { rich_text: RichText[]; children?: Leaf[] }>;
/** A block of a page, with at most one level of blocks in it. */
export type NotionBlock = Block<'paragraph'> | Block<'heading_2'> | Item;

/** A page to create, and the batches to append afterwards. */
export interface NotionPage {
	title: string;
	/** `title` is the ID that the title property of every database has. */
	properties: { title: { title: RichText[] } };
	/** The first batch. */
	children: NotionBlock[];
	childrenBatches: NotionBlock[][];
}

const MAX_RICH_TEXT_LENGTH = 2000;
/** Notion accepts 100, which could exceed a request. */
const MAX_RICH_TEXTS = 30;
const MAX_CHILDREN = 100;
/** Including blocks within others. */
const MAX_BLOCKS = 1000;
/** Bytes of JSON; Notion accepts 500 KB for the whole request. */
const MAX_BATCH_SIZE = 450_000;

/** A summary as a page for Notion; a day too long for one request has several batches of blocks. */
export function toNotion(summary: Summary): NotionPage {
	const { title } = wordingOf(summary);
	const childrenBatches = intoBatches(blocksOf(summary));
	return {
		title,
		properties: { title: { title: [plain(title)] } },
		children: childrenBatches[0],
		childrenBatches,
	};
}

function blocksOf(summary: Summary): NotionBlock[] {
	const { totals, words, speakers } = wordingOf(summary);
	const { starred, entries, more } = listedOf(summary);
	const who = [bold(`${words.whoTookPart} `), ...richTexts(speakers.join(', '))];
	return [
		paragraph([plain(totals)]),
		...(speakers.length > 0 ? inBlocks(who).map(paragraph) : []),
		...(starred.length > 0 ? [heading(words.starred)] : []),
		...starred.flatMap((entry) => titleItems(entry, leadOf(entry, summary, true), '')),
		...(entries.length > 0 ? [heading(words.whatHappened)] : []),
		...entries.flatMap((entry) => entryItems(entry, summary, words)),
		...(more === '' ? [] : [paragraph([plain(more)])]),
	];
}

/** A title with the headings below it, in more items if one isn't enough. */
function entryItems(entry: Entry, summary: Summary, { continued }: Words): NotionBlock[] {
	const star = entry.isStarred ? ` ${STAR}` : '';
	const titles = titleItems(entry, leadOf(entry, summary), star);
	const headings = entry.headings.flatMap((text) => inBlocks(richTexts(text)).map(item));
	const limits = [MAX_CHILDREN, MAX_BATCH_SIZE / 2];
	const [first = [], ...more] = inGroups(headings, limits, (one) => [1, jsonBytes(one)]);
	return [
		...titles.slice(0, -1),
		withChildren(titles[titles.length - 1], first),
		...more.map((children) => withChildren(item([plain(continued)]), children)),
	];
}

function titleItems(entry: Entry, lead: string, trail: string): Leaf[] {
	const texts = [
		...(lead === '' ? [] : [plain(lead)]),
		...richTexts(entry.title, true),
		...(trail === '' ? [] : [plain(trail)]),
	];
	return inBlocks(texts).map(item);
}

function withChildren(parent: Leaf, children: Leaf[]): Item {
	if (children.length === 0) return parent;
	return { ...parent, bulleted_list_item: { ...parent.bulleted_list_item, children } };
}

function item(rich_text: RichText[]): Leaf {
	return { object: 'block', type: 'bulleted_list_item', bulleted_list_item: { rich_text } };
}

function paragraph(rich_text: RichText[]): NotionBlock {
	return { object: 'block', type: 'paragraph', paragraph: { rich_text } };
}

function heading(text: string): NotionBlock {
	return { object: 'block', type: 'heading_2', heading_2: { rich_text: [plain(text)] } };
}

function inBlocks(texts: RichText[]): RichText[][] {
	return inGroups(texts, [MAX_RICH_TEXTS], () => [1]);
}

function richTexts(text: string, isBold = false): RichText[] {
	return splitText(text, MAX_RICH_TEXT_LENGTH).map(isBold ? bold : plain);
}

function plain(content: string): RichText {
	return { type: 'text', text: { content } };
}

function bold(content: string): RichText {
	return { ...plain(content), annotations: { bold: true } };
}

function intoBatches(blocks: NotionBlock[]): NotionBlock[][] {
	const limits = [MAX_CHILDREN, MAX_BLOCKS, MAX_BATCH_SIZE];
	return inGroups(blocks, limits, (block) => [1, countOf(block), jsonBytes(block)]);
}

function countOf(block: NotionBlock): number {
	const children = block.type === 'bulleted_list_item' ? block.bulleted_list_item.children : [];
	return 1 + (children?.length ?? 0);
}
