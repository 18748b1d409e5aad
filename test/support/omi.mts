// What Omi's importer reads of the app's export, by its rules (BasedHardware/omi,
// backend/utils/imports/limitless.py), in our own words.

const FILE_NAME = /^(\d{4}-\d\d-\d\d)_(\d\d)h(\d\d)m(\d\d)s_(.+)$/;
const TITLE = /^#\s+(.+)$/m;
const UTTERANCE = />\s*\[(\d+)\]\(#startMs=(\d+)&endMs=(\d+)\):\s*(.+)/g;

interface OmiConversation {
	title: string;
	/** Epoch ms, to the second, by the name of the file. */
	startedAt: number;
	utterances: { speaker: number; startMs: number; endMs: number; text: string }[];
}

/** @returns undefined for a file that it skips. */
export function readByOmi(path: string, markdown: string): OmiConversation | undefined {
	const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
	const [, day, hours, minutes, seconds, nameOfTitle] = FILE_NAME.exec(name) ?? [];
	if (day === undefined) return undefined;
	const utterances = [...markdown.matchAll(UTTERANCE)].map(([, speaker, start, end, text]) => ({
		...{ speaker: Number(speaker), startMs: Number(start), endMs: Number(end) },
		text: text.trim(),
	}));
	if (utterances.length === 0) return undefined;
	return {
		title: TITLE.exec(markdown)?.[1].trim() ?? nameOfTitle.replaceAll('-', ' '),
		startedAt: Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`),
		utterances,
	};
}
