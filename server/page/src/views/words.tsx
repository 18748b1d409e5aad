import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../api.mts';
import { count, dayInWords, dayOf } from '../format.mts';
import { Load, Problem, useTitle } from '../parts.tsx';
import { makeReplacement, readReplacements, takeBack, type Replacement } from '../replacements.mts';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';
import { LOOK_MS, Progress, WordsView } from './replace.tsx';

/** The words that were corrected in all lifelogs. */
export function WordsList({ session }: { session: Session }) {
	useTitle('Corrected words');
	const replacements = useLoad('replacements', readReplacements);
	const isRunning = replacements.value?.some((each) => each.isRunning) ?? false;
	useEffect(() => {
		if (!isRunning) return;
		const timer = setTimeout(replacements.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [replacements.value, replacements.error]);
	return (
		<>
			<h1>Corrected words</h1>
			<p class="quiet">
				Words that were corrected in all lifelogs. New recordings get them, too. To correct more,
				edit a line in a lifelog.
			</p>
			<Load of={replacements}>
				{(found) =>
					found.length === 0 ? (
						<p>No words are corrected yet.</p>
					) : (
						<ol class="plain-list people">
							{found.map((each) => (
								<Row
									key={each.id}
									replacement={each}
									session={session}
									onChanged={replacements.reload}
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
	onChanged,
}: {
	replacement: Replacement;
	session: Session;
	onChanged: () => void;
}) {
	const { id, heard, right, createdAt, lifelogs, lines, isDone, isRunning } = replacement;
	const [isBusy, setBusy] = useState(false);
	const [problem, attempt] = useAttempt();
	const run = (running: Promise<unknown>) => {
		setBusy(true);
		// What is under way is shown.
		onChanged();
		attempt(
			running.finally(() => {
				setBusy(false);
				onChanged();
			}),
		);
	};
	const button = (name: string, start: () => Promise<unknown>) => (
		<button
			type="button"
			aria-label={`${name}: ${heard}`}
			disabled={isBusy || isRunning}
			onClick={() => run(start())}
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
			{!isDone && !isRunning && <p class="problem">It was interrupted.</p>}
			{(isBusy || isRunning) && <Progress of={replacement} />}
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
