import { useEffect } from 'preact/hooks';
import { checkArchive, readArchiveState, readDisk, type CheckState } from '../api.mts';
import { count, dateTimeInWords, sizeInWords } from '../format.mts';
import { Load, Problem } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';

/** Interval for reading the state of a check. */
const LOOK_MS = 2_000;

/** The archive's size on disk, its last run, and a check of its files. */
export function ArchiveStateView({ timezone }: { timezone: string }) {
	const disk = useLoad('disk', readDisk);
	const archive = useLoad('state of the archive', readArchiveState);
	const [problem, attempt] = useAttempt();
	const isRunning = archive.value?.check.state === 'running';
	useEffect(() => {
		if (!isRunning) return;
		const timer = setTimeout(archive.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [archive.value, archive.error]);
	return (
		<section>
			<h2>Archive</h2>
			<Load of={archive}>
				{({ lastRun, check }) => (
					<>
						<dl class="facts">
							<dt>On disk</dt>
							<dd>
								{disk.value
									? `${sizeInWords(disk.value.archive)}, the index ${sizeInWords(disk.value.index)}. ${sizeInWords(disk.value.free)} are free`
									: disk.error
										? disk.error.message
										: 'counting…'}
							</dd>
							<dt>Last archive run</dt>
							<dd>
								{lastRun ? (
									<>
										<time dateTime={lastRun.at}>{dateTimeInWords(lastRun.at, timezone)}</time>.{' '}
										<bdi>{lastRun.summary}</bdi>
									</>
								) : (
									'none yet'
								)}
							</dd>
						</dl>
						<Outcome check={check} timezone={timezone} />
						<button
							type="button"
							aria-keyshortcuts="k"
							// Not disabled: it would lose the focus.
							aria-disabled={isRunning}
							onClick={() => !isRunning && attempt(checkArchive().then(archive.replace))}
						>
							{isRunning ? 'Checking…' : 'Check every file'}
						</button>
						<Problem text={problem} />
					</>
				)}
			</Load>
		</section>
	);
}

/** Result of the last check. */
function Outcome({ check, timezone }: { check: CheckState; timezone: string }) {
	const { state, endedAt, days, files, bytes, isComplete, findings, findingsCount, message } =
		check;
	if (state === 'idle') return null;
	return (
		<div role="status">
			{state === 'running' && (
				<p>Each file is compared with its checksum. That goes on if you close this page.</p>
			)}
			{state === 'failed' && (
				<p class="problem">
					The archive can't be checked: <bdi>{message}</bdi>
				</p>
			)}
			{state === 'done' && (
				<>
					<p>
						Checked on <time dateTime={endedAt!}>{dateTimeInWords(endedAt!, timezone)}</time>:{' '}
						{count(files, 'file')} of {count(days, 'day')} ({sizeInWords(bytes)}) are unchanged.{' '}
						<strong>
							{isComplete
								? 'No file is missing or changed.'
								: `${count(findingsCount, 'finding')}.`}
						</strong>
					</p>
					{findings.length > 0 && (
						<ul class="plain-list">
							{findings.map(({ kind, where, message: text }, at) => (
								<li key={at}>
									{kind}:{' '}
									<bdi>
										<code>{where}</code>
									</bdi>{' '}
									<bdi>{text}</bdi>
								</li>
							))}
						</ul>
					)}
					{findingsCount > findings.length && (
						<p class="quiet">
							{count(findingsCount - findings.length, 'more finding')}. Run{' '}
							<code>lifelog-server check</code> to see all.
						</p>
					)}
				</>
			)}
		</div>
	);
}
