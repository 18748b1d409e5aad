// State of an export in its folder: .lifelog-export/files.json.
import { ajv } from '../util/schema.mts';
import { isOfLaterVersion, parseJson } from '../archive/layout.mts';
import { CannotStart } from '../util/commandLine.mts';

/** A file that an export wrote. */
export interface MadeFile {
	/** ID of its lifelog; empty for a zip of all. */
	id: string;
	/** SHA-256 of its contents. After a kill there can be several, one of which is right. */
	sha256: string[];
	/** Size and modification time (epoch ms) when last seen, to avoid reading it. */
	bytes?: number;
	mtimeMs?: number;
	/** Only for a zip: the key of its sources. */
	key?: string;
}

export interface MadeLifelog {
	/** Key of its Markdown. */
	text: string;
	/** Key of its audio; empty if it wasn't wanted, or was unreadable. */
	audio: string;
	/** Epoch ms. */
	startMs: number;
	endMs: number;
}

export interface State {
	/** By path in the folder, with `/`. */
	files: Map<string, MadeFile>;
	/** By ID. */
	lifelogs: Map<string, MadeLifelog>;
}

const text = { type: 'string' };
const number = { type: 'number' };
const isStateFile = ajv.compile<{
	files: Record<string, MadeFile>;
	lifelogs: Record<string, MadeLifelog>;
}>({
	type: 'object',
	required: ['version', 'files', 'lifelogs'],
	properties: {
		version: { const: 1 },
		files: {
			type: 'object',
			additionalProperties: {
				type: 'object',
				required: ['id', 'sha256'],
				properties: {
					...{ id: text, sha256: { type: 'array', items: text } },
					...{ bytes: number, mtimeMs: number, key: text },
				},
			},
		},
		lifelogs: {
			type: 'object',
			additionalProperties: {
				type: 'object',
				required: ['text', 'audio', 'startMs', 'endMs'],
				properties: { text, audio: text, startMs: number, endMs: number },
			},
		},
	},
});

/**
 * Parses the state of an export.
 *
 * @param json undefined before the first export.
 * @param path Path for messages.
 * @throws CannotStart if an export didn't write it.
 */
export function parseState(json: string | undefined, path: string): State {
	if (json === undefined) return { files: new Map(), lifelogs: new Map() };
	if (isOfLaterVersion(json)) {
		throw new CannotStart(
			`${path} was written by a later version of lifelog-server. Update this one`,
		);
	}
	const value = parseJson(json);
	if (!isStateFile(value) || !Object.keys(value.files).every(isInside)) {
		throw new CannotStart(
			`${path} is damaged, so nobody knows which files you changed. Move it away, and export again: files that are as they would be written are taken over, and all others stay`,
		);
	}
	return {
		files: new Map(Object.entries(value.files)),
		lifelogs: new Map(Object.entries(value.lifelogs)),
	};
}

export function stateJson({ files, lifelogs }: State): string {
	const all = { files: Object.fromEntries(files), lifelogs: Object.fromEntries(lifelogs) };
	return `${JSON.stringify({ version: 1, ...all })}\n`;
}

/** Whether a path is inside the folder. Someone else may have written it. */
const isInside = (path: string) =>
	!/[\\:\0]/.test(path) && path.split('/').every((part) => part !== '' && !part.startsWith('.'));
