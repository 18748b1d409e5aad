import { useTitle } from '../parts.tsx';

/** How to allow uploads. */
export const HowToRecord = () => (
	<p>
		This needs a transcription endpoint. Start the server with <code>--transcription-url</code>,{' '}
		<code>--transcription-model</code> and <code>--allow-changes</code>.
	</p>
);

/** What is there if a server takes no recordings. */
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
