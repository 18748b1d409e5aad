import { useState } from 'preact/hooks';
import { search, type Found, type Session } from '../api.mts';
import { SelectBar, useSelection } from '../deleting.tsx';
import { useKeptOf } from '../deletions.mts';
import { count } from '../format.mts';
import { isWide, Pages, readPages, useFocus, useTitle } from '../parts.tsx';
import { keepSearch } from '../recentSearches.mts';
import { useAddressForm } from '../useAddressForm.mts';
import { useLoad, type Loaded } from '../useLoad.mts';
import { Results } from './results.tsx';
import { Advice, SearchStart } from './searchStart.tsx';

/** Searches while the user types. The address contains the search. */
export function Search({ session }: { session: Session }) {
	useTitle('Search');
	const { given, address, typed, form, set } = useAddressForm('/search');
	const words = useFocus();
	const isAsked = address !== '';
	const [isOpen] = useState(
		() => !isAsked || isWide() || Object.keys(given).some((name) => name !== 'q'),
	);
	/** Incomplete searches aren't worth saving. */
	const onUsed = () => isAsked && keepSearch(address);
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
			<form
				role="search"
				class="search"
				onSubmit={(event) => event.preventDefault()}
				// Without a button, browsers don't submit a form with several fields.
				onKeyDown={({ key }) => key === 'Enter' && typed !== '' && keepSearch(typed)}
			>
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
			{isAsked ? (
				<Pages of={found as Loaded<Found>} read={read}>
					{(results) => (
						<FoundList
							found={{ ...found.value!, entries: results }}
							{...{ given, session, onOpen: onUsed }}
						/>
					)}
				</Pages>
			) : (
				<SearchStart timezone={session.timezone} />
			)}
		</>
	);
}

/** Search results without entries that are being deleted. */
function FoundList({
	found,
	given,
	session,
	onOpen,
}: {
	found: Found;
	given: Record<string, string | undefined>;
	session: Session;
	onOpen: () => void;
}) {
	const { timezone } = session;
	const results = useKeptOf(found.entries);
	const partly = useKeptOf(found.partly);
	const selection = useSelection();
	const common = { timezone, selection, onOpen };
	return (
		<>
			{found.entries.length === 0 && <Advice found={found} given={given} />}
			<SelectBar
				lifelogs={[...results, ...partly]}
				all={results.length > 0 ? results : partly}
				selection={selection}
				session={session}
			/>
			<Results name="Results" results={results} {...common} />
			{partly.length > 0 && (
				<section>
					<h2>Not all words</h2>
					<Results name="Not all words" isBelow results={partly} {...common} />
				</section>
			)}
		</>
	);
}

function outcomeOf(
	{ entries, partly, next, isCut, without }: Found,
	words: string | undefined,
): string {
	if (entries.length === 0) {
		if (!words) return 'No lifelogs pass these filters.';
		return partly.length > 0 ? 'No lifelog has all of this.' : `Nothing found for “${words}”.`;
	}
	const but = without === null ? '' : ` without “${without}”`;
	if (next !== undefined) return `More than ${count(entries.length, 'lifelog')} found${but}`;
	if (isCut) return `The ${entries.length} best matches${but}. Add words or filters.`;
	return `${count(entries.length, 'lifelog')} found${but}`;
}
