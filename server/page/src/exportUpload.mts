import { useEffect, useState } from 'preact/hooks';
import { uploadExport, type Ways } from './api.mts';

/** An export upload, or why it failed. */
interface Sent {
	/** From 0 to 1; undefined without an upload. */
	share?: number;
	problem: string;
}

// The upload continues when another view is shown.
let sent: Sent = { problem: '' };
const watchers = new Set<(answer?: Ways) => void>();

function show(next: Sent, answer?: Ways): void {
	sent = next;
	watchers.forEach((watch) => watch(answer));
}

/** Calls `watch` at each change of the upload, at its end with the server's answer. @returns Stops that. */
export function watchExportUpload(watch: (answer?: Ways) => void): () => void {
	watchers.add(watch);
	return () => void watchers.delete(watch);
}

export const isExportSent = () => sent.share !== undefined;

function send(file: File, room: number): void {
	if (file.size > room) {
		const [has, fits] = [file.size, room].map((bytes) => (bytes / 1e9).toFixed(1));
		const problem = `The export has ${has} GB. The server's disk has room for ${fits} GB.`;
		return show({ problem });
	}
	show({ share: 0, problem: '' });
	uploadExport(file, (share) => show({ share, problem: '' })).then(
		(answer) => show({ problem: '' }, answer),
		(error: unknown) => show({ problem: (error as Error).message }),
	);
}

/** State of the export upload, updated for the view. */
export function useExportUpload() {
	const [, setShown] = useState(sent);
	useEffect(() => watchExportUpload(() => setShown(sent)), []);
	return { ...sent, send };
}
