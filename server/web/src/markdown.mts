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

/** Markdown as HTML that runs nothing, loads nothing and leads nowhere. */
export function renderMarkdown(text: string): string {
	return markdown.render(text);
}
