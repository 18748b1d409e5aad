import { micromark } from 'micromark';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';

// What was recorded leads nowhere and loads nothing: its markup, links and images stay text.
const ONLY_TEXT = {
	disable: {
		null: [
			'autolink',
			'characterReference',
			'definition',
			'htmlFlow',
			'htmlText',
			'labelEnd',
			'labelStartImage',
			'labelStartLink',
		],
	},
};

/** Markdown as HTML that runs nothing, loads nothing and leads nowhere. */
export function renderMarkdown(text: string): string {
	return micromark(text, {
		extensions: [ONLY_TEXT, gfmTable()],
		htmlExtensions: [gfmTableHtml()],
	});
}
