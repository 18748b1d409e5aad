import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import {
	dropRecording,
	readEndpoints,
	readRecordings,
	recordingAddress,
	retryRecording,
	type EndpointState,
	type Recording,
	type Session,
} from '../api.mts';
import { count, dateTimeInWords, lengthInWords } from '../format.mts';
import { Buttons, Dialog, EndpointText, FileDrop, Load, Problem, useTitle } from '../parts.tsx';
import { useUploads } from '../uploads.mts';
import { languages } from '../languages.mts';
import { useAttempt } from '../useAttempt.mts';
import { useKept, useLoad } from '../useLoad.mts';

/** Interval for reading unfinished recordings. */
export const REFRESH_MS = 3_000;
/** Interval if nothing is being transcribed: files may appear in the inbox. */
const LOOK_MS = 10_000;

const STATUS: Record<Recording['status'], string> = {
	queued: 'Waiting',
	transcribing: 'Transcribing',
	done: 'Done',
	failed: 'Failed',
};

/** Recordings that become lifelogs, and the upload of more. */
export function Recordings({ session }: { session: Session }) {
	useTitle('Recordings');
	const [limit, setLimit] = useKept('recordings shown', PAGE);
	const recordings = useLoad(`recordings ${limit}`, () => readRecordings(limit));
	const isWorking = recordings.value?.recordings.some(({ status }) => !isEnded(status));
	useEffect(() => {
		// After each answer, so that slow requests don't overlap.
		const timer = setTimeout(recordings.reload, isWorking ? REFRESH_MS : LOOK_MS);
		return () => clearTimeout(timer);
	}, [recordings.value, recordings.error]);
	return (
		<>
			<h1>Recordings</h1>
			{session.canUpload && <Upload onUploaded={recordings.reload} />}
			<Load of={recordings}>
				{(found) => (
					<>
						{found.recordings.length === 0 && (
							<>
								<p class="quiet">There are no recordings yet.</p>
								<AboutRecordings session={session} />
							</>
						)}
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

/** Formats, the inbox, and the state of the transcription endpoint. */
export function AboutRecordings({ session: { inbox } }: { session: Session }) {
	const endpoints = useLoad('endpoints', readEndpoints);
	const transcription = endpoints.value?.find(({ name }) => name === 'Transcription');
	return (
		<>
			<p>Formats: m4a, mp3, ogg, wav, flac, amr, wma, the audio of mp4, mov and webm, and more.</p>
			{inbox === null ? (
				<p>
					To transcribe each file of a folder, start the server with <code>--inbox</code> and the
					folder.
				</p>
			) : (
				<p>
					Files in{' '}
					<bdi>
						<code>{inbox}</code>
					</bdi>{' '}
					also become lifelogs.
				</p>
			)}
			{transcription && (
				<p>
					Transcription: <EndpointText of={inCalm(transcription)} />
				</p>
			)}
		</>
	);
}

/** An endpoint in an unknown state is no problem before its first use. */
const inCalm = (of: EndpointState): EndpointState =>
	of.state === 'unknown'
		? { ...of, text: 'not tested yet: its first recording shows whether it works.' }
		: of;

const DETECT = 'detect';
/** The value to send for a choice; undefined leaves the language unchanged. */
const languageOf = (chosen: string) =>
	chosen === '' ? undefined : chosen === DETECT ? null : chosen;

const PAGE = 20;
const MAX_PAGE = 100;

export const isEnded = (status: Recording['status']) => status === 'done' || status === 'failed';

function Row({
	recording,
	session,
	onChanged,
}: {
	recording: Recording;
	session: Session;
	onChanged: () => void;
}) {
	const [problem, attempt] = useAttempt();
	const [isDiscarding, setDiscarding] = useState(false);
	const [language, setLanguage] = useState('');
	const { id, status, fileName, startTime, durationMs, error } = recording;
	const { lifelogIds, deletedLifelogIds } = recording;
	const hasNone = status === 'done' && lifelogIds.length === 0;
	const isAgain = !isEnded(status) && lifelogIds.length > 0;
	const isSpeechless = hasNone && deletedLifelogIds.length === 0;
	return (
		<li class={`recording ${status}`}>
			<h2>
				<bdi>{fileName}</bdi>
			</h2>
			<p class="quiet">
				<span class="state">{STATUS[status]}</span>
				{isAgain && ' · again'}
				{startTime !== null && ` · ${dateTimeInWords(startTime, session.timezone)}`}
				{durationMs !== null && ` · ${lengthInWords(durationMs)}`}
			</p>
			{error !== null && (
				<p class={status === 'failed' ? 'notice' : 'quiet'}>
					<bdi>{error}</bdi>
				</p>
			)}
			{!isDiscarding && <Problem text={problem} />}
			{isSpeechless && <p class="quiet">No speech was found.</p>}
			{status === 'done' && deletedLifelogIds.length > 0 && (
				<p class="quiet">
					{hasNone
						? deletedLifelogIds.length === 1
							? 'Its lifelog was deleted.'
							: 'Its lifelogs were deleted.'
						: `${deletedLifelogIds.length} of its lifelogs deleted.`}
				</p>
			)}
			{(status === 'failed' || isSpeechless) && (
				<p class="listen">
					<audio
						controls
						preload="none"
						src={recordingAddress(id)}
						aria-label={`Audio of ${fileName}`}
					/>
					<a href={recordingAddress(id)} download aria-label={`Download ${fileName}`}>
						Download
					</a>
				</p>
			)}
			{lifelogIds.length > 0 && (
				<p>
					{lifelogIds.map((lifelog, nth) => {
						const name = lifelogIds.length === 1 ? 'Open the lifelog' : `Lifelog ${nth + 1}`;
						return (
							<Link
								key={lifelog}
								data-entry
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
						onClick={() => attempt(retryRecording(id, languageOf(language)).then(onChanged))}
					>
						Retry
					</button>
					<select
						aria-label={`Language of ${fileName}`}
						value={language}
						onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
					>
						<option value="">Same language</option>
						<option value={DETECT}>Detect language</option>
						{languages().map(({ code, name }) => (
							<option key={code} value={code}>
								{name}
							</option>
						))}
					</select>
					{session.canDelete && (
						<button
							type="button"
							class="plain"
							aria-label={`${isAgain ? 'Keep the present transcript of' : 'Discard'} ${fileName}`}
							onClick={() => setDiscarding(true)}
						>
							{isAgain ? 'Keep the present transcript' : 'Discard'}
						</button>
					)}
				</p>
			)}
			{isDiscarding && (
				<Dialog
					title={isAgain ? 'Keep the present transcript' : 'Discard this recording'}
					onClose={() => setDiscarding(false)}
				>
					<form
						onSubmit={(event) => {
							event.preventDefault();
							attempt(
								dropRecording(id).then(() => {
									setDiscarding(false);
									onChanged();
								}),
							);
						}}
					>
						<p>
							<strong>
								<bdi>{fileName}</bdi>
							</strong>{' '}
							{isAgain ? (
								"isn't transcribed again. Its lifelogs stay as they are."
							) : (
								<>
									has no lifelog yet. If you uploaded it, the server deletes it. If it's from the
									inbox, the server moves it to <code>failed</code>.
								</>
							)}
						</p>
						<Buttons
							problem={problem}
							name={isAgain ? 'Keep' : 'Discard'}
							isDanger
							onCancel={() => setDiscarding(false)}
						/>
					</form>
				</Dialog>
			)}
		</li>
	);
}

export function Upload({ onUploaded }: { onUploaded: () => void }) {
	const { sending, send, clearProblems } = useUploads(onUploaded);
	return (
		<FileDrop
			label="Upload recordings"
			text="Drop audio files here, or"
			name="Choose files"
			shortcut="u"
			accept="audio/*,video/*"
			multiple
			onFiles={send}
		>
			<ul class="plain-list">
				{sending.map((entry) => (
					<li key={entry.id}>
						<bdi>{entry.name}</bdi>{' '}
						{entry.problem ? (
							<span class="notice" role="alert">
								{entry.problem}{' '}
								{entry.addAgain && (
									<button
										type="button"
										aria-label={`Add ${entry.name} again`}
										onClick={entry.addAgain}
									>
										Add again
									</button>
								)}
							</span>
						) : (
							<progress value={entry.share} max={1} aria-label={`Uploading ${entry.name}`} />
						)}
					</li>
				))}
			</ul>
			{sending.some(({ problem }) => problem) && (
				<button type="button" class="plain" aria-keyshortcuts="x" onClick={clearProblems}>
					Clear {count(sending.filter(({ problem }) => problem).length, 'message')}
				</button>
			)}
		</FileDrop>
	);
}
