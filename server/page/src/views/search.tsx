import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { search, type Found, type SearchResult, type Session } from '../api.mts';
import { count, dayInWords, timeInWords } from '../format.mts';
import { isWide, Pages, readPages, Star, useFocus, useTitle } from '../parts.tsx';
import { useAddressForm } from '../useAddressForm.mts';
import { useLoad, type Loaded } from '../useLoad.mts';

/** Searches as somebody types; the address keeps what for. */
export function Search({ session: { timezone } }: { session: Session }) {
	useTitle('Search');
	const { given, address, form, set } = useAddressForm('/search');
	const words = useFocus();
	const [isOpen] = useState(() => isWide() || Object.keys(given).some((name) => name !== 'q'));
	const isAsked = address !== '';
	const read = (offset?: number) => search(given, offset);
	const found = useLoad<Found | undefined>(`search ${address}`, async (shown) =>
		isAsked ? await readPages(read, shown) : undefined,
	);
	const field = (name: string) => ({
		name,
		value: form[name] ?? '',
		onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
			set(name, currentTarget.value),
	});
	return (
		<>
			<h1>Search</h1>
			<form role="search" class="search" onSubmit={(event) => event.preventDefault()}>
				<label class="words">
					<span class="hidden">Search words</span>
					<input
						ref={words}
						type="search"
						placeholder="What was it about?"
						aria-keyshortcuts="/"
						maxLength={1000}
						{...field('q')}
					/>
				</label>
				<details class="filters" open={isOpen}>
					<summary aria-keyshortcuts="i">Filters</summary>
					<div>
						<label>
							<span>From</span> <input type="date" aria-keyshortcuts="f" {...field('from')} />
						</label>
						<label>
							<span>To</span> <input type="date" aria-keyshortcuts="e" {...field('to')} />
						</label>
						<label>
							<span>Speaker</span> <input type="text" aria-keyshortcuts="n" {...field('speaker')} />
						</label>
						<label class="check">
							<input
								type="checkbox"
								aria-keyshortcuts="*"
								checked={form.isStarred === 'true'}
								onChange={({ currentTarget: { checked } }) =>
									set('isStarred', checked ? 'true' : '')
								}
							/>{' '}
							Starred
						</label>
					</div>
				</details>
			</form>
			<p class="quiet" role="status">
				{isAsked && found.value && outcomeOf(found.value, given.q)}
			</p>
			{isAsked && (
				<Pages of={found as Loaded<Found>} read={read}>
					{(results) => <Results results={results} timezone={timezone} />}
				</Pages>
			)}
		</>
	);
}

function outcomeOf({ entries, next, isCut, without }: Found, words: string | undefined): string {
	if (entries.length === 0) {
		if (!words) return 'No lifelogs pass these filters.';
		return /^\S{1,3}$/.test(words.trim())
			? 'No lifelogs match. A word of fewer than 4 letters matches only itself: type more letters.'
			: 'No lifelogs match. Try fewer or different words.';
	}
	const but = without === null ? '' : ` without “${without}”`;
	if (next !== undefined) return `More than ${count(entries.length, 'lifelog')} found${but}`;
	if (isCut) return `The ${entries.length} best matches${but}. Add words or filters.`;
	return `${count(entries.length, 'lifelog')} found${but}`;
}

/** Results in their order, those of one day in a row together: more of them only add to the end. */
function groupsOf(results: SearchResult[]): SearchResult[][] {
	const groups: SearchResult[][] = [];
	for (const result of results) {
		const open = groups.at(-1);
		if (open?.[0].day === result.day) open.push(result);
		else groups.push([result]);
	}
	return groups;
}

function Results({ results, timezone }: { results: SearchResult[]; timezone: string }) {
	return (
		<div role="region" aria-label="Results">
			{groupsOf(results).map((found) => (
				<section key={found[0].id}>
					<h2>
						<Link href={`/days/${found[0].day}`}>
							<time dateTime={found[0].day}>{dayInWords(found[0].day)}</time>
						</Link>
					</h2>
					<ol class="plain-list">
						{found.map((result) => (
							<Result key={result.id} result={result} timezone={timezone} />
						))}
					</ol>
				</section>
			))}
		</div>
	);
}

function Result({
	result: { id, title, titleMarks, startTime, isStarred, snippet, marks, at },
	timezone,
}: {
	result: SearchResult;
	timezone: string;
}) {
	const address = `/lifelogs/${encodeURIComponent(id)}${at ? `?at=${Date.parse(at)}` : ''}`;
	return (
		<li class="result">
			<h3>
				<Link href={address}>
					<bdi>{title ? marked(title, titleMarks) : 'Untitled'}</bdi>
				</Link>{' '}
				{isStarred && <Star />}{' '}
				<time class="quiet" dateTime={startTime}>
					{timeInWords(startTime, timezone)}
				</time>
			</h3>
			<p>{marked(snippet, marks)}</p>
		</li>
	);
}

/** A text with its marks. */
function marked(text: string, marks: SearchResult['marks']) {
	let reached = 0;
	const parts = marks.flatMap(([from, to]) => {
		const pair = [text.slice(reached, from), <mark key={from}>{text.slice(from, to)}</mark>];
		reached = to;
		return pair;
	});
	return [...parts, text.slice(reached)];
}
