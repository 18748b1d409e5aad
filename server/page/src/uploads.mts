import { useEffect, useState } from 'preact/hooks';
import { uploadRecording } from './api.mts';
import { isExportSent } from './exportUpload.mts';

/** A file upload, or why it failed. */
export interface Sending {
	id: number;
	name: string;
	/** From 0 to 1. */
	share: number;
	problem?: string;
	/** Uploads a file again whose lifelog was deleted. */
	addAgain?: () => void;
}

// Uploads continue when another view is shown.
let sending: Sending[] = [];
let count = 0;
/** Sequential, because all of them share the bandwidth. */
let last: Promise<void> = Promise.resolve();
const watchers = new Set<(isUploaded: boolean) => void>();

/** Leaving the page would abort an upload. */
addEventListener('beforeunload', (event) => {
	if (sending.some(({ problem }) => !problem) || isExportSent()) event.preventDefault();
});

// A file dropped outside the field would replace the page.
for (const name of ['dragover', 'drop'] as const) {
	addEventListener(name, (event) => {
		if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
	});
}

function show(next: Sending[], isUploaded = false): void {
	sending = next;
	watchers.forEach((watch) => watch(isUploaded));
}

function send(files: Iterable<File>, again = false): void {
	for (const file of files) {
		const id = (count += 1);
		const change = (changed: Partial<Sending>) =>
			show(sending.map((each) => (each.id === id ? { ...each, ...changed } : each)));
		const end = (isUploaded: boolean) =>
			show(
				sending.filter((each) => each.id !== id),
				isUploaded,
			);
		show([...sending, { id, name: file.name, share: 0 }]);
		last = last
			.then(() => uploadRecording(file, (share) => change({ share }), again))
			.then(
				({ status, lifelogIds, deletedLifelogIds }) => {
					if (status !== 'done' || lifelogIds.length > 0 || deletedLifelogIds.length === 0) {
						return end(true);
					}
					const addAgain = () => {
						end(false);
						send([file], true);
					};
					change({ problem: "Its lifelog was deleted, so it wasn't added again.", addAgain });
				},
				(error: unknown) => change({ problem: (error as Error).message }),
			);
	}
}

const clearProblems = () => show(sending.filter(({ problem }) => !problem));

/** The uploads, updated for the view. */
export function useUploads(onUploaded: () => void) {
	const [, setShown] = useState(sending);
	useEffect(() => {
		const watch = (isUploaded: boolean) => {
			setShown(sending);
			if (isUploaded) onUploaded();
		};
		watchers.add(watch);
		return () => void watchers.delete(watch);
	}, []);
	return { sending, send, clearProblems };
}
