import MarkdownIt from 'markdown-it';

// Recorded text must not link or load anything: HTML, links and images stay text.
const markdown = new MarkdownIt({ html: false, linkify: false }).disable([
	'autolink',
	'entity',
	'image',
	'link',
	'reference',
	'strikethrough',
]);

// The page's Content-Security-Policy forbids inline styles, including those of table cells.
markdown.core.ruler.push('align', ({ tokens }) => {
	for (const token of tokens) {
		const style = token.attrGet('style');
		if (style !== null) token.attrs = [['align', style.replace('text-align:', '')]];
	}
});

/** Renders Markdown as HTML without scripts, external content or links. */
export function renderMarkdown(text: string): string {
	return markdown.render(text);
}
