import { Link } from 'wouter-preact';
import type { SearchResult } from '../api.mts';
import { SelectBox, type Selection } from '../deleting.tsx';
import { dateTimeInWords } from '../format.mts';
import { Star } from '../parts.tsx';

/** Search results, each with its day, because results of one day may be apart. */
export function Results({
	name,
	isBelow = false,
	results,
	timezone,
	selection,
	onOpen,
}: {
	/** Label for screen readers. */
	name: string;
	/** Whether they have a heading of their own. */
	isBelow?: boolean;
	results: SearchResult[];
	timezone: string;
	selection: Selection;
	onOpen: () => void;
}) {
	if (results.length === 0) return null;
	return (
		<ol class="plain-list results" aria-label={name}>
			{results.map((result) => (
				<Result
					key={result.id}
					result={result}
					title={isBelow ? 'h3' : 'h2'}
					timezone={timezone}
					selection={selection}
					onOpen={onOpen}
				/>
			))}
		</ol>
	);
}

function Result({
	result,
	title: Title,
	timezone,
	selection,
	onOpen,
}: {
	result: SearchResult;
	title: 'h2' | 'h3';
	timezone: string;
	selection: Selection;
	onOpen: () => void;
}) {
	const { id, title, titleMarks, startTime, day, isStarred, snippet, marks, at } = result;
	const address = `/lifelogs/${encodeURIComponent(id)}${at ? `?at=${Date.parse(at)}` : ''}`;
	return (
		<li class="result">
			<Title>
				<SelectBox of={result} selection={selection} />{' '}
				<Link href={address} data-entry={!selection.ids || undefined} onClick={onOpen}>
					<bdi>{title ? marked(title, titleMarks) : 'Untitled'}</bdi>
				</Link>{' '}
				{isStarred && <Star />}
			</Title>
			<p class="quiet">
				<Link href={`/days/${day}`}>
					<time dateTime={startTime}>{dateTimeInWords(startTime, timezone)}</time>
				</Link>
			</p>
			<p>{marked(snippet, marks)}</p>
		</li>
	);
}

/** A text with highlighted matches. */
function marked(text: string, marks: SearchResult['marks']) {
	let reached = 0;
	const parts = marks.flatMap(([from, to]) => {
		const pair = [text.slice(reached, from), <mark key={from}>{text.slice(from, to)}</mark>];
		reached = to;
		return pair;
	});
	return [...parts, text.slice(reached)];
}
