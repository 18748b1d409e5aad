import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../api.mts';
import { count, dayInWords, dayOf } from '../format.mts';
import { Load, Problem, useTitle } from '../parts.tsx';
import { makeReplacement, readReplacements, takeBack, type Replacement } from '../replacements.mts';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';
import { LOOK_MS, WordsView } from './replace.tsx';

/** Words corrected in all lifelogs. */
export function WordsList({ session }: { session: Session }) {
	useTitle('Corrected words');
	const replacements = useLoad('replacements', readReplacements);
	const [isBusy, setBusy] = useState(false);
	// Another browser may be changing them, too.
	const isWatched = isBusy || replacements.value?.some(({ isDone }) => !isDone);
	useEffect(() => {
		if (!isWatched) return;
		const timer = setTimeout(replacements.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [isWatched, replacements.value, replacements.error]);
	const changed = useRef<number | undefined>(undefined);
	// Its button may be gone, so focus the next one.
	useLayoutEffect(() => {
		if (isBusy || changed.current === undefined) return;
		const buttons = document.querySelectorAll<HTMLElement>('.row-actions button:last-child');
		const next = buttons[Math.min(changed.current, buttons.length - 1)];
		(next ?? document.getElementById('main'))?.focus();
		changed.current = undefined;
	}, [replacements.value]);
	const carryOut = async (nth: number, work: () => Promise<unknown>) => {
		setBusy(true);
		try {
			await work();
		} finally {
			setBusy(false);
			changed.current = nth;
			replacements.reload();
		}
	};
	return (
		<>
			<h1>Corrected words</h1>
			<p class="quiet">
				Words that were corrected in all lifelogs. New recordings get them, too. To correct others,
				edit a line of a lifelog.
			</p>
			<Load of={replacements}>
				{(found) =>
					found.length === 0 ? (
						<p>No words are corrected in all lifelogs yet.</p>
					) : (
						<ol class="plain-list people">
							{found.map((each, nth) => (
								<Row
									key={each.id}
									replacement={each}
									session={session}
									isBusy={isBusy}
									carryOut={(work) => carryOut(nth, work)}
								/>
							))}
						</ol>
					)
				}
			</Load>
		</>
	);
}

function Row({
	replacement,
	session,
	isBusy,
	carryOut,
}: {
	replacement: Replacement;
	session: Session;
	/** Whether another change is in progress. Only one is possible at a time. */
	isBusy: boolean;
	carryOut: (work: () => Promise<unknown>) => Promise<void>;
}) {
	const { id, heard, right, createdAt, lifelogs, lines, lifelogsDone, isDone } = replacement;
	const [problem, attempt] = useAttempt();
	const button = (name: string, work: () => Promise<unknown>) => (
		<button
			type="button"
			aria-label={`${name}: ${heard}`}
			disabled={isBusy}
			onClick={() => attempt(carryOut(work))}
		>
			{name}
		</button>
	);
	return (
		<li>
			<h2>
				<WordsView words={replacement} />
			</h2>
			<p class="quiet">
				{count(lines, 'line')} in {count(lifelogs, 'lifelog')}
				{' · '}
				<time dateTime={createdAt}>
					{dayInWords(dayOf(createdAt, session.timezone), { dateStyle: 'medium' })}
				</time>
			</p>
			{!isDone && (
				<p class="progress">
					<progress aria-label="Lifelogs done" value={lifelogsDone} max={lifelogs} />
					{lifelogsDone.toLocaleString()} of {count(lifelogs, 'lifelog')} have it now
				</p>
			)}
			{session.canChange && (
				<p class="row-actions">
					{!isDone && button('Finish', () => makeReplacement({ heard, right }))}
					{button('Take back', () => takeBack(id))}
				</p>
			)}
			<Problem text={problem} />
		</li>
	);
}
