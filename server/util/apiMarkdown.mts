import type { ContentNode } from '../../lifelog/api.ts';
import { contentNodes } from '../../lifelog/contents.ts';

/** Renders contents as the API's `markdown`: headings with `#`, utterances as quotes `> Speaker: words`. */
export function renderMarkdown(contents: ContentNode[]): string {
	return [...contentNodes(contents)].map(markdownLine).join('\n\n');
}

function markdownLine({ type, content, speakerName }: ContentNode): string {
	const level = /^heading([1-6])$/.exec(type)?.[1];
	if (level) return `${'#'.repeat(Number(level))} ${content}`;
	return type === 'blockquote' ? `> ${speakerName ?? 'Unknown'}: ${content}` : content;
}
