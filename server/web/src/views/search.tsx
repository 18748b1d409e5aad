import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, useLocation, useSearch } from 'wouter-preact';
import { search, type SearchResult, type Session } from '../api.mts';
import { dayInWords, timeInWords } from '../format.mts';
import { Load, Star, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

const PAUSE_MS = 300;

/** Searches as somebody types; the address keeps what for. */
export function Search({ session: { timezone } }: { session: Session }) {
	useTitle('Search');
	const [, navigate] = useLocation();
	const address = useSearch();
	const given = Object.fromEntries(new URLSearchParams(address));
	const [form, setForm] = useState(given);
	const written = useRef(address);
	useEffect(() => {
		const timer = setTimeout(() => {
			const filled = Object.entries(form).filter(([, value]) => value !== '');
			written.current = String(new URLSearchParams(filled));
			navigate(`/search?${written.current}`, { replace: true });
		}, PAUSE_MS);
		return () => clearTimeout(timer);
	}, [form]);
	useEffect(() => {
		// Somebody followed a link to another search.
		if (address !== written.current) setForm(given);
		written.current = address;
	}, [address]);
	const field = (name: string) => ({
		name,
		value: form[name] ?? '',
		onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
			setForm((before) => ({ ...before, [name]: currentTarget.value })),
	});
	return (
		<>
			<h1>Search</h1>
			<form role="search" class="search" onSubmit={(event) => event.preventDefault()}>
				<label class="words">
					<span class="hidden">Search words</span>
					<input
						type="search"
						placeholder="What was it about?"
						aria-keyshortcuts="/"
						autofocus
						maxLength={1000}
						{...field('q')}
					/>
				</label>
				<label>
					From <input type="date" aria-keyshortcuts="f" {...field('from')} />
				</label>
				<label>
					To <input type="date" aria-keyshortcuts="e" {...field('to')} />
				</label>
				<label>
					Speaker <input type="text" aria-keyshortcuts="n" {...field('speaker')} />
				</label>
				<label class="check">
					<input
						type="checkbox"
						aria-keyshortcuts="*"
						checked={form.isStarred === 'true'}
						onChange={({ currentTarget: { checked } }) =>
							setForm((before) => ({ ...before, isStarred: checked ? 'true' : '' }))
						}
					/>{' '}
					Starred
				</label>
			</form>
			{given.q && <Results key={JSON.stringify(given)} query={given} timezone={timezone} />}
		</>
	);
}

function Results({ query, timezone }: { query: Record<string, string>; timezone: string }) {
	const [more, setMore] = useState<Awaited<ReturnType<typeof search>>>();
	const first = useLoad(() => search(query), [query]);
	return (
		<Load of={first}>
			{(loaded) => {
				const results = [...loaded.results, ...(more?.results ?? [])];
				const nextOffset = more ? more.nextOffset : loaded.nextOffset;
				const loadMore = async (offset: number) => {
					const next = await search({ ...query, offset });
					setMore({ ...next, results: [...(more?.results ?? []), ...next.results] });
				};
				return (
					<div role="region" aria-label="Results" aria-live="polite">
						{results.length === 0 && (
							<p class="quiet">No lifelog matches. Try fewer or other words.</p>
						)}
						{[...Map.groupBy(results, ({ day }) => day)].map(([day, found]) => (
							<section key={day}>
								<h2>
									<Link href={`/days/${day}`}>{dayInWords(day)}</Link>
								</h2>
								<ol class="plain-list">
									{found.map((result) => (
										<Result key={result.id} result={result} timezone={timezone} />
									))}
								</ol>
							</section>
						))}
						{nextOffset !== null && (
							<button type="button" aria-keyshortcuts="m" onClick={() => void loadMore(nextOffset)}>
								Show more
							</button>
						)}
					</div>
				);
			}}
		</Load>
	);
}

function Result({
	result: { id, title, startTime, isStarred, snippet, marks, at },
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
					<bdi>{title || 'Untitled'}</bdi>
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
