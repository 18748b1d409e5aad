import { useEffect, useState } from 'preact/hooks';
import { readWays, uploadExport, type Ways } from './api.mts';
import { sizeInWords } from './format.mts';
import type { RequestError } from './request.mts';
import { keep } from './useLoad.mts';

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
	// For views that are shown later.
	if (answer) keep('ways', answer);
	watchers.forEach((watch) => watch(answer));
}

/** Calls `watch` at each change of the upload, at its end with the server's answer. @returns Stops that. */
export function watchExportUpload(watch: (answer?: Ways) => void): () => void {
	watchers.add(watch);
	return () => void watchers.delete(watch);
}

export const isExportSent = () => sent.share !== undefined;

export const isImporting = ({ importing: { state } }: Ways) =>
	state === 'receiving' || state === 'running';

async function send(file: File): Promise<void> {
	show({ share: 0, problem: '' });
	try {
		// What is shown may be old.
		const now = await readWays();
		const { room } = now.importing;
		if (isImporting(now)) return show({ problem: OTHER }, now);
		if (file.size > room) {
			const problem = `The export has ${sizeInWords(file.size)}. The server's disk has room for ${sizeInWords(room)}.`;
			return show({ problem }, now);
		}
		const answer = await uploadExport(file, (share) => show({ share, problem: '' }));
		show({ problem: '' }, answer);
	} catch (error) {
		const { status, message } = error as RequestError;
		const now = await readWays().catch(() => undefined);
		// All of it has arrived if the server imports it, though its answer was lost.
		const isThere = NO_ANSWERS.includes(status) && now?.importing.state === 'running';
		show({ problem: isThere ? '' : message }, now);
	}
}

const OTHER =
	"Your export isn't uploaded, because another is being imported. Choose it again when that has ended.";
/** Without a response, and that of a proxy that waited too long for one. */
const NO_ANSWERS = [0, 504];

/** State of the export upload, updated for the view. */
export function useExportUpload() {
	const [, setShown] = useState(sent);
	useEffect(() => watchExportUpload(() => setShown(sent)), []);
	return { ...sent, send };
}
