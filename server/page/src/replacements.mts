import type { Preview, ReplacementState } from '../../http/pageApi/answers.mts';
import type { Words } from './changedWords.mts';
import { get, idPath, request } from './request.mts';

/** Words that are corrected in all lifelogs, and how far that is. */
export type Replacement = ReplacementState;
/** A line before and after. */
export type Example = Preview['examples'][number];

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
