import { useTitle } from '../parts.tsx';

/** Explains how to allow uploads. */
export const HowToRecord = () => (
	<p>
		This needs a transcription endpoint. Start the server with <code>--transcription-url</code>,{' '}
		<code>--transcription-model</code> and <code>--allow-changes</code>.
	</p>
);

/** Shown if a server accepts no recordings. */
export function NoRecordings() {
	useTitle('Recordings');
	return (
		<>
			<h1>Recordings</h1>
			<p>Recordings from any device can become lifelogs.</p>
			<HowToRecord />
		</>
	);
}
