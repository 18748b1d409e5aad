import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import {
	dropRecording,
	readRecordings,
	retryRecording,
	uploadRecording,
	type Recording,
	type Session,
} from '../api.mts';
import { count, dateTimeInWords, lengthInWords } from '../format.mts';
import { Load, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

const REFRESH_MS = 3_000;

const STATUS: Record<Recording['status'], string> = {
	queued: 'Waiting',
	transcribing: 'Transcribing',
	done: 'Done',
	failed: 'Failed',
};

/** The recordings that become lifelogs, and where to upload more. */
export function Recordings({ session }: { session: Session }) {
	useTitle('Recordings');
	const [limit, setLimit] = useState(PAGE);
	const recordings = useLoad(() => readRecordings(limit), [limit]);
	const isWorking = recordings.value?.recordings.some(({ status }) => !isEnded(status));
	useEffect(() => {
		if (!isWorking) return;
		const timer = setInterval(recordings.reload, REFRESH_MS);
		return () => clearInterval(timer);
	}, [isWorking, limit]);
	return (
		<>
			<h1>Recordings</h1>
			{session.canUpload && <Upload onUploaded={recordings.reload} />}
			<Load of={recordings}>
				{(found) => (
					<>
						{found.recordings.length === 0 && <p class="quiet">There are no recordings yet.</p>}
						<ul class="recordings plain-list">
							{found.recordings.map((recording) => (
								<Row
									key={recording.id}
									recording={recording}
									session={session}
									onChanged={recordings.reload}
								/>
							))}
						</ul>
						{found.hasMore && limit < MAX_PAGE && (
							<button type="button" aria-keyshortcuts="m" onClick={() => setLimit(MAX_PAGE)}>
								Show more
							</button>
						)}
					</>
				)}
			</Load>
		</>
	);
}

const PAGE = 20;
const MAX_PAGE = 100;

const isEnded = (status: Recording['status']) => status === 'done' || status === 'failed';

function Row({
	recording,
	session,
	onChanged,
}: {
	recording: Recording;
	session: Session;
	onChanged: () => void;
}) {
	const [problem, setProblem] = useState('');
	const { id, status, fileName, startTime, durationMs, error, lifelogIds } = recording;
	const change = (request: Promise<unknown>) =>
		void request.then(
			() => {
				setProblem('');
				onChanged();
			},
			({ message }: Error) => setProblem(message),
		);
	return (
		<li class={`recording ${status}`}>
			<h2>{fileName}</h2>
			<p class="quiet">
				{STATUS[status]}
				{startTime !== null && ` · ${dateTimeInWords(startTime, session.timezone)}`}
				{durationMs !== null && ` · ${lengthInWords(durationMs)}`}
			</p>
			{error !== null && <p class={status === 'failed' ? 'notice' : 'quiet'}>{error}</p>}
			{problem && (
				<p class="notice" role="alert">
					{problem}
				</p>
			)}
			{status === 'done' && lifelogIds.length === 0 && (
				<p class="quiet">Nobody spoke, or the lifelog was deleted.</p>
			)}
			{lifelogIds.length > 0 && (
				<p>
					{lifelogIds.map((lifelog, nth) => {
						const name = lifelogIds.length === 1 ? 'Open the lifelog' : `Lifelog ${nth + 1}`;
						return (
							<Link
								key={lifelog}
								href={`/lifelogs/${lifelog}`}
								aria-label={`${name} of ${fileName}`}
							>
								{name}
							</Link>
						);
					})}
				</p>
			)}
			{session.canUpload && (status === 'failed' || (status === 'queued' && error !== null)) && (
				<p class="actions">
					<button
						type="button"
						aria-label={`Retry ${fileName}`}
						onClick={() => change(retryRecording(id))}
					>
						Retry
					</button>
					{session.canDelete && (
						<button
							type="button"
							class="plain"
							aria-label={`Discard ${fileName}`}
							onClick={() => change(dropRecording(id))}
						>
							Discard
						</button>
					)}
				</p>
			)}
		</li>
	);
}

/** A file that is being uploaded. */
interface Sending {
	name: string;
	/** From 0 to 1. */
	share: number;
	problem?: string;
}

function Upload({ onUploaded }: { onUploaded: () => void }) {
	const input = useRef<HTMLInputElement>(null);
	const [isOver, setIsOver] = useState(false);
	const [sending, setSending] = useState<Sending[]>([]);
	// One after the other, because all of them share the line.
	const last = useRef<Promise<void>>(Promise.resolve());
	const send = (files: Iterable<File>) => {
		for (const file of files) {
			const entry: Sending = { name: file.name, share: 0 };
			const show = (change: Partial<Sending>) => {
				Object.assign(entry, change);
				setSending((before) => [...before]);
			};
			setSending((before) => [...before, entry]);
			last.current = last.current.then(async () => {
				try {
					await uploadRecording(file, (share) => show({ share }));
					setSending((before) => before.filter((other) => other !== entry));
					onUploaded();
				} catch (error) {
					show({ problem: (error as Error).message });
				}
			});
		}
	};
	return (
		<section
			class={isOver ? 'upload over' : 'upload'}
			aria-label="Upload recordings"
			onDragOver={(event) => {
				event.preventDefault();
				setIsOver(true);
			}}
			onDragLeave={() => setIsOver(false)}
			onDrop={(event) => {
				event.preventDefault();
				setIsOver(false);
				send(event.dataTransfer?.files ?? []);
			}}
		>
			<p>Drop audio files here, or</p>
			<button type="button" aria-keyshortcuts="u" onClick={() => input.current?.click()}>
				Choose files
			</button>
			<input
				ref={input}
				hidden
				type="file"
				multiple
				accept="audio/*,video/*"
				onChange={({ currentTarget }) => {
					send([...(currentTarget.files ?? [])]);
					currentTarget.value = '';
				}}
			/>
			<ul class="plain-list">
				{sending.map((entry) => (
					<li key={entry.name}>
						{entry.name}{' '}
						{entry.problem ? (
							<span class="notice" role="alert">
								{entry.problem}
							</span>
						) : (
							<progress value={entry.share} max={1} aria-label={`Uploading ${entry.name}`} />
						)}
					</li>
				))}
			</ul>
			{sending.some(({ problem }) => problem) && (
				<button
					type="button"
					class="plain"
					aria-keyshortcuts="x"
					onClick={() => setSending(sending.filter(({ problem }) => !problem))}
				>
					Clear {count(sending.filter(({ problem }) => problem).length, 'message')}
				</button>
			)}
		</section>
	);
}
