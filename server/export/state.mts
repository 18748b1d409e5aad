// What an export has written into a folder: .lifelog-export/files.json.
import { Ajv } from 'ajv';
import { isOfLaterVersion, parseJson } from '../archive/layout.mts';
import { CannotStart } from '../util/commandLine.mts';

/** A file that an export wrote. */
export interface MadeFile {
	/** The lifelog that is in it; empty for a zip of all. */
	id: string;
	/** Of its contents. A killed export can leave several, of which one is right. */
	sha256: string[];
	/** As it was found last, to save reading it: size, and the time of its last change in epoch ms. */
	bytes?: number;
	mtimeMs?: number;
	/** Of a zip: what it was made of. */
	key?: string;
}

/** A lifelog as it was exported. */
export interface MadeLifelog {
	/** What its Markdown was made of. */
	text: string;
	/** What its audio was made of; empty if that wasn't wanted, or couldn't be read. */
	audio: string;
	/** Epoch ms. */
	startMs: number;
	endMs: number;
}

/** All that is known of a folder. */
export interface State {
	/** By their paths in the folder, with `/`. */
	files: Map<string, MadeFile>;
	/** By their IDs. */
	lifelogs: Map<string, MadeLifelog>;
}

const text = { type: 'string' };
const number = { type: 'number' };
const isStateFile = new Ajv().compile<{
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
 * Reads what an export knows.
 *
 * @param json Undefined before the first export.
 * @param path Where it is, for people.
 * @throws CannotStart for anything else than an export wrote.
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

/** Whether a path leads to something in the folder. Somebody else may have written it. */
const isInside = (path: string) =>
	!/[\\:\0]/.test(path) && path.split('/').every((part) => part !== '' && !part.startsWith('.'));
