// The search before anybody has typed, and after one that found nothing.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readPeople, type Found } from '../api.mts';
import { dayInWords, isDay } from '../format.mts';
import { forgetSearches, recentSearches } from '../recentSearches.mts';
import { useLoad } from '../useLoad.mts';

const addressOf = (q: string) => `/search?${new URLSearchParams({ q })}`;

/** What was searched for before, and examples. */
export function SearchStart() {
	const [recent, setRecent] = useState(recentSearches);
	return (
		<>
			{recent.length > 0 && (
				<section class="recent">
					<h2>Recent searches</h2>
					<ul class="plain-list">
						{recent.map((address) => (
							<li key={address}>
								<Link href={`/search?${address}`} data-entry>
									<bdi>{searchInWords(address)}</bdi>
								</Link>
							</li>
						))}
					</ul>
					<p class="quiet">
						They're kept in this browser only, until you sign out.{' '}
						<button
							type="button"
							class="plain"
							aria-keyshortcuts="x"
							onClick={() => {
								forgetSearches();
								setRecent([]);
							}}
						>
							Clear
						</button>
					</p>
				</section>
			)}
			<Examples />
		</>
	);
}

/** Searches with people who were heard lately. */
function Examples() {
	const people = useLoad('people of examples', async () => {
		const { entries } = await readPeople({ sort: 'lastHeard', limit: 2 });
		return entries.map(({ name }) => name);
	});
	const [one = 'Anna', other = 'Ben'] = people.value ?? [];
	const examples = [
		['garden water', 'Both words, in any order'],
		['"in the garden"', 'These words side by side'],
		[one, 'A name: what the person says, and who talks about them'],
		[`${one} garden`, 'What the person says of it'],
		[`${one} OR ${other}`, 'One of the two'],
	];
	return (
		<section>
			<h2>Examples</h2>
			<dl class="facts examples">
				{examples.map(([q, text]) => (
					<div key={text}>
						<dt>
							<Link href={addressOf(q)} data-entry>
								<bdi>{q}</bdi>
							</Link>
						</dt>
						<dd>{text}</dd>
					</div>
				))}
			</dl>
		</section>
	);
}

/** What to try if no lifelog has all words. */
export function Advice({
	found,
	given,
}: {
	found: Found;
	given: Record<string, string | undefined>;
}) {
	const { q = '', ...filters } = given;
	const isFiltered = Object.values(filters).some(Boolean);
	const words = q.trim();
	return (
		<ul class="advice">
			{found.corrected !== null && (
				<li>
					Did you mean{' '}
					<Link href={addressOf(found.corrected)}>
						<bdi>{found.corrected}</bdi>
					</Link>
					?
				</li>
			)}
			{isFiltered && (
				<li>
					{words === '' ? (
						'Change or clear the filters.'
					) : (
						<Link href={addressOf(q)}>Search without filters</Link>
					)}
				</li>
			)}
			{/^\S{1,3}$/.test(words) && (
				<li>Type more letters: a word of fewer than 4 matches only itself.</li>
			)}
			{words.includes('"') && (
				<li>
					<Link href={addressOf(words.replaceAll('"', ' ').trim())}>
						Search without quotation marks
					</Link>
					, which keep words side by side.
				</li>
			)}
			{words !== '' && <li>Use fewer or other words, or OR between them.</li>}
		</ul>
	);
}

/** A search as its address has it, in words. */
function searchInWords(address: string): string {
	const { q, from, to, speaker, isStarred } = Object.fromEntries(new URLSearchParams(address));
	const inWords = (day: string) => (isDay(day) ? dayInWords(day, { dateStyle: 'medium' }) : day);
	return [
		q,
		from && `from ${inWords(from)}`,
		to && `to ${inWords(to)}`,
		speaker && `speaker ${speaker}`,
		isStarred && 'starred',
	]
		.filter(Boolean)
		.join(', ');
}
