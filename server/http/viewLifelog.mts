import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { mapNodes } from '../../lifelog/contents.ts';
import { zoneFormatter } from '../util/times.mts';

/** Options for returning a lifelog. */
export interface ViewOptions {
	timezone: string;
	includeMarkdown: boolean;
	includeHeadings: boolean;
	includeContents: boolean;
}

/** A stored lifelog in the API's format. */
export function viewLifelog(stored: Lifelog, options: ViewOptions): Lifelog {
	const { markdown, contents, ...rest } = stored;
	const format = zoneFormatter(options.timezone);
	const nodes = options.includeHeadings ? contents : withoutHeadings(contents);
	return {
		...rest,
		...(options.includeMarkdown && {
			markdown: options.includeHeadings ? markdown : withoutHeadingLines(markdown),
		}),
		contents: options.includeContents ? mapNodes(nodes, (node) => viewNode(node, format)) : [],
		startTime: format(stored.startTime),
		endTime: format(stored.endTime),
		updatedAt: format(stored.updatedAt),
	};
}

function viewNode(node: ContentNode, format: (iso: string) => string): ContentNode {
	return {
		...node,
		...(node.startTime && { startTime: format(node.startTime) }),
		...(node.endTime && { endTime: format(node.endTime) }),
	};
}

function withoutHeadings(nodes: ContentNode[]): ContentNode[] {
	return nodes.flatMap((node) => {
		const children = withoutHeadings(node.children ?? []);
		if (node.type.startsWith('heading')) return children;
		return [node.children ? { ...node, children } : node];
	});
}

function withoutHeadingLines(markdown: string | null | undefined) {
	return markdown?.replaceAll(/^#{1,6} .*\n*/gm, '');
}
