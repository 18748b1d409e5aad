import type { Words } from './changedWords.mts';
import { get, idPath, request } from './request.mts';

/** What a replacement would do. */
interface Preview {
	lifelogs: number;
	lines: number;
	examples: Example[];
}

/** A line before and after. */
export interface Example {
	lifelogId: string;
	startTime: string;
	before: string;
	after: string;
}

/** Words that are corrected in all lifelogs. */
export interface Replacement extends Words {
	id: string;
	createdAt: string;
	lifelogs: number;
	lines: number;
	isDone: boolean;
	isRunning?: boolean;
	done?: number;
}

/** Finds the lines in which words would be corrected. */
export const previewReplacement = async (words: Words): Promise<Preview> =>
	(await request<{ data: Preview }>('POST', '/v1/replacements', { ...words, isPreview: true }))
		.data;
/** Corrects words in all lifelogs. Resolves when all is done. */
export const makeReplacement = async (words: Words): Promise<Replacement> =>
	(await request<{ data: { replacement: Replacement } }>('POST', '/v1/replacements', words)).data
		.replacement;
/** All replacements, newest first. */
export const readReplacements = async (): Promise<Replacement[]> =>
	(await get<{ data: { replacements: Replacement[] } }>('/v1/replacements')).data.replacements;
/** Takes a replacement back in all lifelogs. Resolves when all is done. */
export const takeBack = (id: string) => request<void>('DELETE', idPath('replacements', id));
