import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { differenceOf, MAX_WORDS_LENGTH, type Words } from '../changedWords.mts';
import { count, dateTimeInWords } from '../format.mts';
import { Buttons, Dialog, Load, Problem, useFocus } from '../parts.tsx';
import {
	makeReplacement,
	previewReplacement,
	readReplacements,
	takeBack,
	type Example,
	type Replacement,
} from '../replacements.mts';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';

/** Delay after typing until the preview. */
const PAUSE_MS = 300;
/** Interval for reading the server's progress. */
export const LOOK_MS = 250;

/** Offers to correct words everywhere after they were corrected in a line. */
export function Offer({
	words: { heard, right },
	lifelogs,
	onChoose,
	onClose,
}: {
	words: Words;
	/** Number of further lifelogs with these words. */
	lifelogs: number;
	onChoose: () => void;
	onClose: () => void;
}) {
	return (
		<div class="offer" role="status">
			<button type="button" aria-keyshortcuts="y" onClick={onChoose}>
				Correct “<bdi>{heard}</bdi>” to “<bdi>{right}</bdi>” in {count(lifelogs, 'lifelog')}?
			</button>
			<button type="button" class="plain" onClick={onClose}>
				No
			</button>
		</div>
	);
}

/** Corrects words in all lifelogs. This can be undone. */
export function Replace({
	words,
	timezone,
	onChanged,
	onClose,
}: {
	words: Words;
	timezone: string;
	/** Called when lifelogs may have changed. */
	onChanged: () => void;
	onClose: () => void;
}) {
	const [typed, setTyped] = useState(words);
	const [made, setMade] = useState<Replacement>();
	const [problem, attempt] = useAttempt();
	const [isTakenBack, setTakenBack] = useState(false);
	const [isBusy, setBusy] = useState(false);
	const run = (running: Promise<Replacement | undefined>) => {
		setBusy(true);
		attempt(
			running
				.then((next) => {
					setMade(next);
					setTakenBack(next === undefined);
				})
				.finally(() => {
					setBusy(false);
					onChanged();
				}),
		);
	};
	const form = { problem, isBusy, onClose };
	return (
		<Dialog title="Correct in all lifelogs" onClose={onClose}>
			{made ? (
				<Made
					{...form}
					made={made}
					onTakeBack={() => run(takeBack(made.id).then(() => undefined))}
				/>
			) : (
				<Ask
					{...form}
					typed={typed}
					isTakenBack={isTakenBack}
					onType={setTyped}
					timezone={timezone}
					onMake={() => run(makeReplacement(typed))}
				/>
			)}
		</Dialog>
	);
}

interface FormOf {
	problem: string;
	/** Whether the server is working on it. */
	isBusy: boolean;
	onClose: () => void;
}

function Ask({
	typed,
	isTakenBack,
	timezone,
	problem,
	isBusy,
	onType,
	onMake,
	onClose,
}: FormOf & {
	typed: Words;
	/** Whether the correction was undone. */
	isTakenBack: boolean;
	timezone: string;
	onType: (typed: Words) => void;
	onMake: () => void;
}) {
	const asked = useLater(typed);
	const preview = useLoad(`replacement ${JSON.stringify(asked)}`, async () => ({
		...(await previewReplacement(asked)),
		of: asked,
	}));
	// The focused element may be gone.
	const first = useFocus();
	const field = (name: keyof Words, text: string) => (
		<label>
			{text}{' '}
			<input
				ref={name === 'heard' ? first : undefined}
				value={typed[name]}
				maxLength={MAX_WORDS_LENGTH}
				required
				readOnly={isBusy}
				dir="auto"
				autocomplete="off"
				onInput={({ currentTarget: { value } }) => onType({ ...typed, [name]: value })}
			/>
		</label>
	);
	// Until it's loaded, the preview is that of other words.
	const of = preview.value?.of;
	const isCurrent =
		of?.heard === typed.heard && of.right === typed.right && preview.error === undefined;
	const lifelogs = preview.value?.lifelogs ?? 0;
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (!isBusy) onMake();
			}}
		>
			<p role="status">{isTakenBack && 'Taken back.'}</p>
			{field('heard', 'Heard')}
			{field('right', 'Right')}
			<Load of={preview}>
				{({ lifelogs, lines, examples }) => (
					<div class="preview">
						<p class="quiet" role="status">
							{lifelogs === 0
								? 'No line has these words.'
								: `${count(lines, 'line')} in ${count(lifelogs, 'lifelog')}`}
						</p>
						<ul class="plain-list" tabIndex={0} aria-label="Examples">
							{examples.map((example, at) => (
								<ExampleView key={at} example={example} timezone={timezone} />
							))}
						</ul>
						{examples.length < lines && (
							<p class="quiet">
								{examples.length} of {count(lines, 'line')} shown
							</p>
						)}
					</div>
				)}
			</Load>
			{isBusy && <Progress of={typed} />}
			<Buttons
				problem={problem}
				name={isBusy ? 'Correcting…' : 'Correct'}
				isDisabled={isBusy || !isCurrent || lifelogs === 0}
				onCancel={onClose}
			/>
		</form>
	);
}

/** A line before and after. */
function ExampleView({ example, timezone }: { example: Example; timezone: string }) {
	const { startTime, before, after } = example;
	const { start, old, now, end } = differenceOf(before, after);
	return (
		<li>
			<time class="quiet" dateTime={startTime}>
				{dateTimeInWords(startTime, timezone)}
			</time>
			<p dir="auto">
				<bdi>{start}</bdi>
				<del>
					<bdi>{old}</bdi>
				</del>{' '}
				<ins>
					<bdi>{now}</bdi>
				</ins>
				<bdi>{end}</bdi>
			</p>
		</li>
	);
}

/** A finished correction, which can be undone. */
function Made({
	made,
	problem,
	isBusy,
	onTakeBack,
	onClose,
}: FormOf & { made: Replacement; onTakeBack: () => void }) {
	const closing = useFocus<HTMLButtonElement>();
	return (
		<>
			<p role="status">
				“<bdi>{made.heard}</bdi>” is now “<bdi>{made.right}</bdi>” in{' '}
				{count(made.lifelogs, 'lifelog')}.
			</p>
			<p>
				<Link href="/words">All corrected words</Link>
			</p>
			{isBusy && <Progress of={made} isBack />}
			<Problem text={problem} />
			<div class="buttons">
				<button type="button" disabled={isBusy} onClick={onTakeBack}>
					{isBusy ? 'Taking back…' : 'Take back'}
				</button>
				<button ref={closing} type="button" class="plain" onClick={onClose}>
					Close
				</button>
			</div>
		</>
	);
}

/** The words as heard and as corrected. */
export function WordsView({ words: { heard, right } }: { words: Words }) {
	return (
		<>
			“<bdi>{heard}</bdi>” → “<bdi>{right}</bdi>”
		</>
	);
}

function Progress({ of, isBack = false }: { of: Words; isBack?: boolean }) {
	const replacements = useLoad('replacements', readReplacements);
	useEffect(() => {
		const timer = setTimeout(replacements.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [replacements.value, replacements.error]);
	const found = replacements.value?.find(
		({ heard, right, isDone }) => !isDone && heard === of.heard && right === of.right,
	);
	const { lifelogs = 0, lifelogsDone = 0 } = found ?? {};
	const done = isBack ? lifelogs - lifelogsDone : lifelogsDone;
	// The total is unknown before the first lifelog.
	return (
		<p class="progress" role="status">
			<progress aria-label="Lifelogs done" {...(found && { value: done, max: lifelogs })} />
			{found && `${done.toLocaleString()} of ${count(lifelogs, 'lifelog')}`}
		</p>
	);
}

/** A value after it has been stable for a while. */
function useLater<Value>(value: Value): Value {
	const [later, setLater] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setLater(value), PAUSE_MS);
		return () => clearTimeout(timer);
	}, [value]);
	return later;
}
