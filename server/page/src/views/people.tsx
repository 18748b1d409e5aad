import { Link } from 'wouter-preact';
import { readPeople, type Page, type Person, type Session } from '../api.mts';
import { Pages, readPages, useTitle } from '../parts.tsx';
import { useAddressForm } from '../useAddressForm.mts';
import { useLoad } from '../useLoad.mts';
import { Facts, Me, OtherNames, personAddress } from './personParts.tsx';

const ORDERS = [
	['lastHeard', 'Last heard'],
	['lifelogs', 'Most lifelogs'],
	['name', 'Name'],
] as const;

/** Everyone with a name. */
export function PeopleView({ session }: { session: Session }) {
	useTitle('People');
	const { given, address, form, set } = useAddressForm('/people');
	const read = (cursor?: string) => readPeople({ search: given.search, sort: given.sort }, cursor);
	const people = useLoad<Page<Person, string>>(`people ${address}`, (shown) =>
		readPages(read, shown),
	);
	return (
		<>
			<h1>People</h1>
			<p class="quiet">
				<Link href="/words" aria-keyshortcuts="w">
					Corrected words
				</Link>
			</p>
			<form role="search" class="search" onSubmit={(event) => event.preventDefault()}>
				<label>
					<span>Name</span>{' '}
					<input
						type="search"
						aria-keyshortcuts="f"
						maxLength={200}
						value={form.search ?? ''}
						onInput={({ currentTarget: { value } }) => set('search', value)}
					/>
				</label>
				<label>
					<span>Sort</span>{' '}
					<select
						aria-keyshortcuts="v"
						value={form.sort ?? 'lastHeard'}
						onChange={({ currentTarget: { value } }) => set('sort', value)}
					>
						{ORDERS.map(([value, name]) => (
							<option key={value} value={value}>
								{name}
							</option>
						))}
					</select>
				</label>
			</form>
			<p class="quiet" role="status">
				{people.value && outcomeOf(people.value, given.search)}
			</p>
			<Pages of={people} read={read}>
				{(found) => (
					<ol class="plain-list people">
						{found.map((person) => (
							<Row key={person.name} person={person} session={session} onChanged={people.reload} />
						))}
					</ol>
				)}
			</Pages>
		</>
	);
}

function outcomeOf({ entries, next }: Page<Person, string>, search: string | undefined): string {
	if (entries.length > 0) {
		const people = entries.length === 1 ? '1 person' : `${entries.length} people`;
		return next === undefined ? people : `More than ${people}`;
	}
	return search
		? 'Nobody has this name.'
		: 'Nobody has a name yet. Speakers are named in their lifelogs.';
}

function Row({
	person,
	session,
	onChanged,
}: {
	person: Person;
	session: Session;
	onChanged: () => void;
}) {
	const { name, isMe } = person;
	return (
		<li>
			<h2>
				<Link href={personAddress(name)} data-entry>
					<bdi>{name}</bdi>
				</Link>
				{isMe && <Me />}
			</h2>
			<Facts person={person} timezone={session.timezone} />
			<OtherNames person={person} canChange={session.canChange} onChanged={onChanged} />
		</li>
	);
}
