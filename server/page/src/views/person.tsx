import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useSearch } from 'wouter-preact/use-browser-location';
import type { Lifelog } from '../../../../lifelog/api.ts';
import {
	changePerson,
	readLifelogsBy,
	readPerson,
	renamePerson,
	type Page,
	type Person,
	type Session,
} from '../api.mts';
import { useKeptOf } from '../deletions.mts';
import { dateTimeInWords } from '../format.mts';
import { Buttons, Dialog, Load, NotFound, Pages, Problem, readPages, useTitle } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';
import { useRedirect } from '../useRedirect.mts';
import { Facts, Me, Merge, OtherNames, personAddress } from './personParts.tsx';

/** A person, and the lifelogs in which they speak. */
export function PersonView({ session }: { session: Session }) {
	const name = new URLSearchParams(useSearch()).get('name');
	if (!name) return UNKNOWN;
	return <NamedPerson key={name} name={name} session={session} />;
}

const UNKNOWN = <NotFound what="person" href="/people" to="people" />;

function NamedPerson({ name, session }: { name: string; session: Session }) {
	const loaded = useLoad(`person ${name}`, () => readPerson(name));
	const read = (cursor?: string) => readLifelogsBy(name, session.timezone, cursor);
	const lifelogs = useLoad<Page<Lifelog, string>>(`lifelogs by ${name}`, (shown) =>
		readPages(read, shown),
	);
	const onChanged = () => {
		loaded.reload();
		lifelogs.reload();
	};
	useTitle(loaded.value?.name ?? 'Person');
	return (
		<Load of={loaded} notFound={UNKNOWN}>
			{(person) => (
				<>
					<div class="head">
						<h1>
							<bdi>{person.name}</bdi>
							{person.isMe && <Me />}
						</h1>
						<Facts person={person} timezone={session.timezone} />
						{session.canChange && <Changes person={person} onChanged={onChanged} />}
						<OtherNames person={person} canChange={session.canChange} onChanged={onChanged} />
					</div>
					<h2>Lifelogs</h2>
					<Pages of={lifelogs} read={read}>
						{(found) => <List lifelogs={found} timezone={session.timezone} />}
					</Pages>
				</>
			)}
		</Load>
	);
}

function List({ lifelogs, timezone }: { lifelogs: Lifelog[]; timezone: string }) {
	return (
		<ol class="plain-list rows">
			{useKeptOf(lifelogs).map(({ id, title, startTime }) => (
				<li key={id}>
					<Link href={`/lifelogs/${encodeURIComponent(id)}`} data-entry>
						<bdi>{title || 'Untitled'}</bdi>
					</Link>
					<time class="quiet" dateTime={startTime}>
						{dateTimeInWords(startTime, timezone)}
					</time>
				</li>
			))}
		</ol>
	);
}

function Changes({ person, onChanged }: { person: Person; onChanged: () => void }) {
	const { name, isMe } = person;
	const [isRenaming, setRenaming] = useState(false);
	const [problem, attempt] = useAttempt();
	const redirect = useRedirect();
	return (
		<div class="actions">
			<button type="button" aria-keyshortcuts="e" onClick={() => setRenaming(true)}>
				Rename
			</button>
			<button
				type="button"
				aria-keyshortcuts="i"
				title={isMe ? undefined : 'Your lines without a name get this one'}
				onClick={() => attempt(changePerson({ person: name, isMe: !isMe }).then(onChanged))}
			>
				{isMe ? "This isn't me" : 'This is me'}
			</button>
			<Problem text={problem} />
			{isRenaming && (
				<Rename
					person={person}
					onDone={(to) => {
						setRenaming(false);
						redirect(personAddress(to));
					}}
					onClose={() => setRenaming(false)}
				/>
			)}
		</div>
	);
}

function Rename({
	person,
	onDone,
	onClose,
}: {
	person: Person;
	/** Called with the new name. */
	onDone: (name: string) => void;
	onClose: () => void;
}) {
	const [problem, attempt] = useAttempt();
	const [name, setName] = useState(person.name);
	const [other, setOther] = useState<Person>();
	if (other) return <Merge people={[other, person]} onDone={onDone} onClose={onClose} />;
	const rename = async () => {
		if (name === person.name) return onDone(name);
		const outcome = await renamePerson(person.name, name);
		// The server may have changed the name, for example trimmed it.
		if ('renamed' in outcome) onDone(outcome.renamed.name);
		else setOther(outcome.other);
	};
	return (
		<Dialog title="Rename" onClose={onClose}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					attempt(rename());
				}}
			>
				<label>
					Name{' '}
					<input
						value={name}
						maxLength={200}
						required
						autofocus
						onInput={({ currentTarget: { value } }) => setName(value)}
					/>
				</label>
				<p class="quiet">Every lifelog shows the new name. The stored files keep the old one.</p>
				<Buttons problem={problem} name="Save" onCancel={onClose} />
			</form>
		</Dialog>
	);
}
