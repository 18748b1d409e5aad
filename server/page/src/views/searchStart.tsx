// The search view before typing, and after a search without results.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readNewest, readPeople, type Found } from '../api.mts';
import { dayInWords, isDay } from '../format.mts';
import { forgetSearches, recentSearches } from '../recentSearches.mts';
import { useLoad } from '../useLoad.mts';

const addressOf = (q: string) => `/search?${new URLSearchParams({ q })}`;

/** Recent searches and examples. */
export function SearchStart({ timezone }: { timezone: string }) {
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
			<Examples timezone={timezone} />
		</>
	);
}

/** Two consecutive words. */
const PAIR = /\p{L}{4,} \p{L}{4,}/u;

/** Examples with recently heard people, and words of a title. */
function Examples({ timezone }: { timezone: string }) {
	const newest = useLoad('titles of examples', () => readNewest(20, timezone));
	const pairs = newest.value?.flatMap(({ title }) => PAIR.exec(title ?? '') ?? []) ?? [];
	const [pair = 'garden water'] = pairs;
	const [first, second] = pair.toLowerCase().split(' ');
	const people = useLoad('people of examples', async () => {
		const { entries } = await readPeople({ sort: 'lastHeard', limit: 2 });
		return entries.map(({ name }) => name);
	});
	const [one = 'Anna', other = 'Ben'] = people.value ?? [];
	const examples = [
		[`${second} ${first}`, 'Both words, in any order'],
		[`"${first} ${second}"`, 'These words side by side'],
		[one, 'A name: what the person says, and who talks about them'],
		[`${one} ${first}`, 'What the person says of it'],
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

/** Advice if no lifelog has all words. */
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
	const advice = [
		found.corrected !== null && (
			<>
				Did you mean{' '}
				<Link href={addressOf(found.corrected)}>
					<bdi>{found.corrected}</bdi>
				</Link>
				?
			</>
		),
		isFiltered && words === '' && <>Change or clear the filters.</>,
		isFiltered && words !== '' && <Link href={addressOf(q)}>Search without filters</Link>,
		/^\S{1,3}$/.test(words) && <>Type more letters: a word of fewer than 4 matches only itself.</>,
		words.includes('"') && (
			<>
				<Link href={addressOf(words.replaceAll('"', ' ').trim())}>
					Search without quotation marks
				</Link>
				, which keep words side by side.
			</>
		),
		/\s/.test(words) && <>Use fewer or other words, or OR between them.</>,
	].filter((each) => each !== false);
	if (advice.length === 0) advice.push(<>Check the spelling, or try another word.</>);
	if (advice.length === 1) return <p class="advice">{advice}</p>;
	return (
		<ul class="advice">
			{advice.map((each, at) => (
				<li key={at}>{each}</li>
			))}
		</ul>
	);
}

/** Describes a search from its address. */
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
