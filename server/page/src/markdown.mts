import MarkdownIt from 'markdown-it';

// What was recorded leads nowhere and loads nothing: its markup, links and images stay text.
const markdown = new MarkdownIt({ html: false, linkify: false }).disable([
	'autolink',
	'entity',
	'image',
	'link',
	'reference',
	'strikethrough',
]);

// The page's Content-Security-Policy forbids styles in HTML, also this one of a table's cells.
markdown.core.ruler.push('align', ({ tokens }) => {
	for (const token of tokens) {
		const style = token.attrGet('style');
		if (style !== null) token.attrs = [['align', style.replace('text-align:', '')]];
	}
});

/** Markdown as HTML that runs nothing, loads nothing and leads nowhere. */
export function renderMarkdown(text: string): string {
	return markdown.render(text);
}
