import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt();

/** Where the links and pictures of a Markdown text lead to, as they are written. */
export function linksIn(text: string): string[] {
	const tokens = markdown.parse(text, {}).flatMap(({ children }) => children ?? []);
	return tokens
		.map((token) => token.attrGet('href') ?? token.attrGet('src'))
		.filter((target) => target !== null)
		.map(decodeURI);
}

/** The anchors that GitHub gives the headings of a Markdown text. */
export function anchorsIn(text: string): string[] {
	const tokens = markdown.parse(text, {});
	const titles = tokens
		.filter((_token, index) => tokens[index - 1]?.type === 'heading_open')
		.map(({ children }) => (children ?? []).map(({ content }) => content).join(''));
	const slugs = titles.map((title) =>
		title
			.toLowerCase()
			.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
			.replaceAll(' ', '-'),
	);
	return slugs.map((slug, index) => {
		const before = slugs.slice(0, index).filter((other) => other === slug).length;
		return before === 0 ? slug : `${slug}-${before}`;
	});
}
