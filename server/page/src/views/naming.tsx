import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { isLabel } from '../../../../lifelog/speakers.ts';
import { plainLine } from '../../../../lifelog/text.ts';
import {
	changeLifelog,
	readPerson,
	readRecordingOf,
	renamePerson,
	type AudioSpan,
	type Person,
} from '../api.mts';
import { count } from '../format.mts';
import { Icon } from '../icons.tsx';
import type { Line } from '../lines.mts';
import { Buttons, Confirm, Dialog, useFocus } from '../parts.tsx';
import type { Seek } from '../player.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';
import { KnownNames, Merge, personAddress, useKnownPeople } from './personParts.tsx';

interface NamingOf {
	/** ID of the lifelog. */
	id: string;
	lines: Line[];
	speakers: (string | null)[];
	/** Null for lines without a speaker. */
	speaker: string | null;
	/** Display names. */
	shown: Map<string, string>;
	/** Spans in its audio; empty without audio. */
	spans: AudioSpan[];
	onSeek: (seek: Seek) => void;
	onChanged: () => void;
	onClose: () => void;
}

/** Names a speaker of a lifelog, beside its transcript. */
export function Naming({ onChoose, ...of }: NamingOf & { onChoose: (of: string | null) => void }) {
	const { speakers, speaker, shown, onClose } = of;
	const [chosen, setChosen] = useState<string | null>();
	return (
		<Dialog title="Name a speaker" isBeside onClose={onClose}>
			<div class="whom">
				<label>
					Speaker{' '}
					<select
						value={speakers.indexOf(speaker)}
						onChange={({ currentTarget: { value } }) => {
							const name = speakers[Number(value)]!;
							setChosen(name);
							onChoose(name);
						}}
					>
						{speakers.map((name, at) => (
							<option key={at} value={at} dir="auto">
								{name === null ? 'Unknown' : shown.get(name)}
							</option>
						))}
					</select>
				</label>
				<Hear key={`hear ${speaker}`} {...of} />
			</div>
			{/* Arrow keys in the list fire a change at each step, so the focus stays there. */}
			<NameForm key={`name ${speaker}`} {...of} isFocused={speaker !== chosen} />
		</Dialog>
	);
}

/** The speakers of a lifelog, in order of their first words; null for lines without a speaker. */
export function speakersOf(lines: Line[]): (string | null)[] {
	return [...new Set(lines.flatMap((line) => (line.type === 'said' ? [line.speaker] : [])))];
}

/** Plays the lines of a speaker, one with each click. */
function Hear({ lines, speaker, spans, onSeek }: NamingOf) {
	const [next, setNext] = useState(0);
	const heard = useMemo(() => heardOf(lines, speaker, spans), [lines, speaker, spans]);
	if (heard.length === 0) return null;
	return (
		<button
			type="button"
			aria-label="Play a line"
			onClick={() => {
				onSeek({ ...heard[next % heard.length]!, isPlayed: true });
				setNext(next + 1);
			}}
		>
			<Icon name="play" /> Play
		</button>
	);
}

/** Times of a speaker's lines with audio, longest first: they are best for recognizing a voice. */
function heardOf(lines: Line[], speaker: string | null, spans: AudioSpan[]) {
	const heard = lines.flatMap((line) => {
		if (line.type !== 'said' || line.speaker !== speaker || line.startMs === undefined) return [];
		const { startMs: ms, endMs: untilMs } = line;
		const hasAudio = spans.some(({ startMs, endMs }) => startMs <= ms && ms < endMs);
		return hasAudio ? [{ ms, untilMs }] : [];
	});
	const lengthOf = ({ ms, untilMs = ms }: (typeof heard)[number]) => untilMs - ms;
	return heard.sort((one, other) => lengthOf(other) - lengthOf(one));
}

/** Scope of a name. */
type Where = 'here' | 'recording' | 'everywhere';

function NameForm({
	id,
	speaker,
	shown,
	speakers,
	onChanged,
	onClose,
	isFocused,
}: NamingOf & { isFocused: boolean }) {
	const isPerson = speaker !== null && !isLabel(speaker);
	const [typed, setTyped] = useState(isPerson ? speaker : '');
	// Normalized like on the server.
	const name = typed === speaker ? typed : plainLine(typed);
	const [chosen, setChosen] = useState<Where>();
	const [question, setQuestion] = useState<'same name' | 'as recorded' | Person>();
	const [problem, attempt] = useAttempt();
	const field = useFocus(isFocused);
	const offered = useKnownPeople();
	const { choices, person, before } = useChoices(id, speaker, isPerson);
	// A label is the same voice in the whole recording.
	const isVoice = speaker !== null && choices.has('recording');
	const where = chosen ?? (isVoice ? 'recording' : 'here');

	// A person's earlier name is shown as the current one.
	const now = offered.find(({ alsoCalled }) => alsoCalled.includes(name))?.name ?? name;
	const isTaken = speakers.some(
		(other) => other !== null && other !== speaker && (other === now || shown.get(other) === now),
	);
	const change = (wanted: Parameters<typeof changeLifelog>[1]) => changeLifelog(id, wanted);
	const nameHere = () =>
		change({
			speakers: { [speaker ?? '']: name },
			...(where === 'recording' && { wholeRecording: true }),
		});
	const done = () => {
		onClose();
		onChanged();
	};
	const save = async () => {
		if (name === speaker) return onClose();
		if (where !== 'everywhere') {
			if (isTaken) return setQuestion('same name');
			await nameHere();
		} else {
			const outcome = await renamePerson(speaker!, name);
			if ('other' in outcome) return setQuestion(outcome.other);
		}
		done();
	};
	const asked = { onDone: done, onClose: () => setQuestion(undefined) };

	return (
		<>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					attempt(save());
				}}
			>
				<label>
					Name{' '}
					<input
						ref={field}
						list="known-names"
						value={typed}
						maxLength={200}
						required
						autocomplete="off"
						onFocus={({ currentTarget }) => currentTarget.select()}
						onInput={({ currentTarget: { value } }) => setTyped(value)}
					/>
				</label>
				<KnownNames id="known-names" names={offered.map((each) => each.name)} />
				{choices.size > 1 && (
					<fieldset>
						<legend>Where</legend>
						{[...choices].map(([value, text]) => (
							<label key={value} class="choice">
								<input
									type="radio"
									name="where"
									checked={value === where}
									onChange={() => setChosen(value)}
								/>{' '}
								<span>{text}</span>
							</label>
						))}
					</fieldset>
				)}
				<Before names={before} onChoose={setTyped} />
				<Buttons problem={problem} name="Save" onCancel={onClose} />
			</form>
			<p class="more-names">
				<button type="button" class="plain" onClick={() => setQuestion('as recorded')}>
					Names as recorded
				</button>
				{isPerson && (
					<Link href={personAddress(speaker)}>
						Lifelogs with <bdi>{speaker}</bdi>
					</Link>
				)}
			</p>
			{question === 'same name' && (
				<Confirm
					title="The same name twice"
					text={
						<>
							Somebody else in this lifelog is <bdi>{now}</bdi>. If both have this name, their lines
							can no longer be told apart.
						</>
					}
					name="Save"
					carryOut={nameHere}
					{...asked}
				/>
			)}
			{question === 'as recorded' && (
				<Confirm
					title="Names as recorded"
					text="All names that were given to speakers of this lifelog are taken back. Names that count everywhere stay."
					name="Take back"
					carryOut={() => change({ speakers: null })}
					{...asked}
				/>
			)}
			{typeof question === 'object' && person && <Merge people={[question, person]} {...asked} />}
		</>
	);
}

/** Offers names that speakers had before their recording was transcribed again. */
function Before({ names, onChoose }: { names: string[]; onChoose: (name: string) => void }) {
	if (names.length === 0) return null;
	return (
		<p class="names-before">
			Before:{' '}
			{names.map((name) => (
				<button key={name} type="button" class="plain" onClick={() => onChoose(name)}>
					<bdi>{name}</bdi>
				</button>
			))}
		</p>
	);
}

/**
 * Scopes of a name, with labels; the person, once known; and names from before the recording was
 * transcribed again, with that of the same label first.
 */
function useChoices(id: string, speaker: string | null, isPerson: boolean) {
	const recording = useLoad(`recording of ${id}`, () => readRecordingOf(id));
	const person = useLoad(`person ${speaker}`, async () =>
		isPerson ? await readPerson(speaker!) : undefined,
	);
	const choices = new Map<Where, string>([['here', 'This lifelog']]);
	const { lifelogIds = [], namesBefore = [] } = recording.value ?? {};
	const lifelogs = lifelogIds.length;
	if (isPerson) {
		const of = person.value ? ` (${count(person.value.lifelogs, 'lifelog')})` : '';
		choices.set('everywhere', `Everywhere${of}`);
	} else if (lifelogs > 1) {
		choices.set('recording', `The whole recording (${count(lifelogs, 'lifelog')})`);
	}
	const isSame = ({ label }: (typeof namesBefore)[number]) => label === (speaker ?? '');
	const first = [...namesBefore.filter(isSame), ...namesBefore];
	const before = isPerson ? [] : [...new Set(first.map(({ name }) => name))];
	return { choices, person: person.value, before };
}
