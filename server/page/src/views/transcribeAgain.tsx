import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readRecording, readRecordingOf, transcribeAgain, type Recording } from '../api.mts';
import { count } from '../format.mts';
import { Confirm, Problem } from '../parts.tsx';
import { forgetLoaded, useLoad } from '../useLoad.mts';
import { useRedirect } from '../useRedirect.mts';
import { isEnded, REFRESH_MS } from './recordings.tsx';

/** Transcribes the recording of a lifelog again, and shows the progress. */
export function TranscribeAgain({ id, onChanged }: { id: string; onChanged: () => void }) {
	const of = useLoad(`recording of ${id}`, () => readRecordingOf(id));
	const [isAsking, setAsking] = useState(false);
	const [problem, setProblem] = useState('');
	const [isDone, setDone] = useState(false);
	const [looks, setLooks] = useState(0);
	const redirect = useRedirect();
	const recording = of.value?.recording;
	const isWorking = recording && !isEnded(recording.status);

	const look = async (recordingId: string) => {
		const now = await readRecording(recordingId);
		const { lifelogIds, status, error } = now;
		if (!isEnded(status)) return of.replace({ ...of.value!, recording: now });
		setProblem(error ?? '');
		setDone(error === null);
		// Everything else may have changed, too.
		forgetLoaded();
		if (lifelogIds.includes(id)) {
			of.reload();
			onChanged();
		} else {
			// The new transcript has no part for this lifelog.
			const [first] = lifelogIds;
			redirect(first ? `/lifelogs/${first}` : '/recordings');
		}
	};
	useEffect(() => {
		if (!isWorking) return;
		const again = () => setLooks((before) => before + 1);
		const timer = setTimeout(
			() =>
				void look(recording.id)
					.catch(() => {})
					.then(again),
			REFRESH_MS,
		);
		return () => clearTimeout(timer);
	}, [isWorking, looks]);

	if (!of.value || !recording || !(of.value.isAudioKept || isWorking)) return null;
	const { lifelogIds } = of.value;
	return (
		<>
			{!isWorking && (
				<button type="button" aria-keyshortcuts="u" onClick={() => setAsking(true)}>
					Transcribe again
				</button>
			)}
			<p class="quiet again" role="status">
				{isWorking ? <Working recording={recording} /> : isDone && 'Transcribed again.'}
			</p>
			<Problem text={problem} />
			{isAsking && (
				<Confirm
					title="Transcribe again"
					text={
						<>
							{lifelogIds.length > 1
								? `All ${count(lifelogIds.length, 'lifelog')} of this recording get a new transcript.`
								: 'This lifelog gets a new transcript.'}{' '}
							The present one isn't kept. Titles, stars and corrected words stay where they fit.
							Names of speakers have to be given again, and the page offers those from before.
						</>
					}
					name="Transcribe"
					carryOut={async () => {
						of.replace({ ...of.value!, recording: await transcribeAgain(recording.id) });
					}}
					onDone={() => {
						setProblem('');
						setDone(false);
						setAsking(false);
					}}
					onClose={() => setAsking(false)}
				/>
			)}
		</>
	);
}

function Working({
	recording: { status, error },
}: {
	recording: Pick<Recording, 'status' | 'error'>;
}) {
	return (
		<>
			<Link href="/recordings">
				{status === 'queued' ? 'Transcribing again: waiting' : 'Transcribing again…'}
			</Link>{' '}
			<bdi>{error}</bdi>
		</>
	);
}
