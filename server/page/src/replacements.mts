import type { Preview, ReplacementState } from '../../http/pageApi/answers.mts';
import type { Words } from './changedWords.mts';
import { get, idPath, request } from './request.mts';

/** Words corrected in all lifelogs, with the progress. */
export type Replacement = ReplacementState;
/** A line before and after. */
export type Example = Preview['examples'][number];

/** Finds the lines that a correction would change. */
export const previewReplacement = async (words: Words): Promise<Preview> =>
	(await request<{ data: Preview }>('POST', '/v1/replacements', { ...words, isPreview: true }))
		.data;
/** Corrects words in all lifelogs. Resolves when finished. */
export const makeReplacement = async (words: Words): Promise<Replacement> =>
	(await request<{ data: { replacement: Replacement } }>('POST', '/v1/replacements', words)).data
		.replacement;
/** All replacements, newest first. */
export const readReplacements = async (): Promise<Replacement[]> =>
	(await get<{ data: { replacements: Replacement[] } }>('/v1/replacements')).data.replacements;
/** Undoes a replacement in all lifelogs. Resolves when finished. */
export const takeBack = (id: string) => request<void>('DELETE', idPath('replacements', id));
