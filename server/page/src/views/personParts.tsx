import { useState } from 'preact/hooks';
import { changePerson, readPeople, readPerson, type Person } from '../api.mts';
import { count, dayInWords, dayOf, lengthInWords } from '../format.mts';
import { Buttons, Dialog, Problem } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';

/** Maximum people to choose from, last heard first. */
const MAX_OFFERED = 100;

/** The address of a person. A name can be any text, and a path wouldn't preserve it. */
export const personAddress = (name: string) => `/person?${new URLSearchParams({ name })}`;

/** People whose names are suggested. */
export function useKnownPeople(): Person[] {
	const people = useLoad('people to choose', () => readPeople({ limit: MAX_OFFERED }));
	return people.value?.entries ?? [];
}

/** Suggested names for a field. */
export function KnownNames({ id, names }: { id: string; names: string[] }) {
	return (
		<datalist id={id}>
			{[...new Set(names)].map((name) => (
				<option key={name} value={name} />
			))}
		</datalist>
	);
}

/** A mark for the wearer. */
export function Me() {
	return <span class="me">Me</span>;
}

/** How much a person has said, and when last. */
export function Facts({
	person: { lifelogs, spokenMs, lastHeard },
	timezone,
}: {
	person: Person;
	timezone: string;
}) {
	return (
		<p class="quiet">
			{count(lifelogs, 'lifelog')}
			{spokenMs > 0 && ` · ${lengthInWords(spokenMs)} spoken`}
			{lastHeard && (
				<>
					{' · last heard '}
					<time dateTime={lastHeard}>
						{dayInWords(dayOf(lastHeard, timezone), { dateStyle: 'medium' })}
					</time>
				</>
			)}
		</p>
	);
}

/** Former names of a person, and people who may be the same. */
export function OtherNames({
	person,
	canChange,
	onChanged,
}: {
	person: Person;
	canChange: boolean;
	onChanged: () => void;
}) {
	const { name, alsoCalled, similar } = person;
	const [problem, attempt] = useAttempt();
	const [twin, setTwin] = useState<Person>();
	if (alsoCalled.length + similar.length === 0) return null;
	return (
		<>
			<ul class="plain-list other-names">
				{alsoCalled.map((other) => (
					<li key={other}>
						<span class="quiet">
							Also called <bdi>{other}</bdi>
						</span>
						{canChange && (
							<button
								type="button"
								aria-label={`Separate ${other} from ${name}`}
								onClick={() =>
									attempt(changePerson({ person: name, separate: [other] }).then(onChanged))
								}
							>
								Separate
							</button>
						)}
					</li>
				))}
				{similar.map((other) => (
					<li key={other}>
						<span class="quiet">
							Similar name: <bdi>{other}</bdi>
						</span>
						{canChange && (
							<button
								type="button"
								aria-label={`Merge ${other} with ${name}`}
								onClick={() => attempt(readPerson(other).then(setTwin))}
							>
								Merge
							</button>
						)}
					</li>
				))}
			</ul>
			<Problem text={problem} />
			{twin && (
				<Merge
					people={[person, twin]}
					onDone={() => {
						setTwin(undefined);
						onChanged();
					}}
					onClose={() => setTwin(undefined)}
				/>
			)}
		</>
	);
}

/** Asks whether two people are one, and which name to keep. */
export function Merge({
	people,
	onDone,
	onClose,
}: {
	/** The name of the first one is suggested. */
	people: [Person, Person];
	onDone: (name: string) => void;
	onClose: () => void;
}) {
	const [problem, attempt] = useAttempt();
	const [name, setName] = useState(people[0].name);
	const other = people.find((person) => person.name !== name)!;
	return (
		<Dialog title="Merge two people" onClose={onClose}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					const change = { person: other.name, name, merge: true };
					attempt(changePerson(change).then(() => onDone(name)));
				}}
			>
				<fieldset>
					<legend>Are they one person? Choose the name:</legend>
					{people.map((person) => (
						<label key={person.name} class="choice">
							<input
								type="radio"
								name="name"
								checked={person.name === name}
								onChange={() => setName(person.name)}
							/>{' '}
							<span>
								<bdi>{person.name}</bdi>, {count(person.lifelogs, 'lifelog')}
							</span>
						</label>
					))}
				</fieldset>
				<p>
					<bdi>{other.name}</bdi> becomes <bdi>{name}</bdi> in every lifelog. You can separate them
					again.
				</p>
				<Buttons problem={problem} name="Merge" onCancel={onClose} />
			</form>
		</Dialog>
	);
}
