import type { FastifyReply } from 'fastify';
import type { Replacements } from '../../index/replacements.mts';
import { ApiError } from '../../util/errors.mts';
import type { Service } from '../service.mts';
import { bodyOf, wordsOf } from './changes.mts';

/** The body of a new replacement. */
export interface AskedReplacement {
	heard: string;
	right: string;
	isPreview?: boolean;
}

/** Lists the replacements, newest first. */
export function listReplacements(service: Service): object {
	return { data: { replacements: replacementsOf(service).list() } };
}

/**
 * Replaces words in all lifelogs: 201 when all are changed. A preview (200) shows what would change.
 *
 * @throws ApiError: 400 for invalid words or too many lifelogs, 409 during another replacement, or if
 *   the archive isn't writable.
 */
export async function createReplacement(
	service: Service,
	asked: AskedReplacement,
	reply: FastifyReply,
): Promise<object> {
	const { isPreview, ...words } = bodyOf(asked);
	const heard = wordsOf('heard', words.heard);
	const right = wordsOf('right', words.right);
	if (!/[\p{L}\p{N}]/u.test(heard)) {
		throw new ApiError(400, 'heard has no letter and no digit. Give a word');
	}
	if (heard === right) throw new ApiError(400, 'right is the same as heard. Give the right words');
	if (isPreview) return { data: await replacementsOf(service).preview({ heard, right }) };
	const replacement = await replacementsOf(service).make({ heard, right });
	reply.code(201);
	return { data: { replacement } };
}

/** Undoes a replacement. Throws an ApiError: 404 for an unknown ID, 409 like `createReplacement`. */
export async function deleteReplacement(service: Service, id: string): Promise<object> {
	await replacementsOf(service).takeBack(id);
	return { data: { success: true } };
}

function replacementsOf({ maker }: Service): Replacements {
	return maker!.current().replacements;
}
