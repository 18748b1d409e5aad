// The archive's folder in Status: its size on disk, the last run of `archive`, and the result of
// `lifelog-server check`, which runs as a separate process.
import type { FastifyInstance } from 'fastify';
import { readReport } from '../../archive/otherRun.mts';
import { ApiError } from '../../util/errors.mts';
import { diskUse } from '../../util/diskUse.mts';
import { requireKey } from '../api.mts';
import type { Service } from '../service.mts';
import type { ArchiveRun, ArchiveState } from './answers.mts';
import { Check } from './check.mts';
import { requireSession } from './ways.mts';

/** Measuring large folders takes seconds. */
const COUNT_EVERY_MS = 60_000;

export interface ArchivePlaces {
	folder: string;
	/** The file of the index. */
	index: string;
}

/** Adds `/web/disk`, `/web/archive` and `/web/check`. Starting a check requires a session. */
export async function addArchiveState(
	app: FastifyInstance,
	service: Service,
	{ folder, index }: ArchivePlaces,
): Promise<void> {
	const check = new Check(folder);
	app.addHook('onClose', async () => check.close());
	const answer = async (): Promise<ArchiveState> => ({
		lastRun: await lastRunOf(folder),
		check: check.state(),
	});
	let counted: { atMs: number; use: ReturnType<typeof diskUse> } | undefined;
	await app.register(async (web) => {
		web.addHook('onRequest', requireKey(service));
		web.get('/web/archive', answer);
		web.get('/web/disk', async () => {
			const nowMs = performance.now();
			if (!counted || nowMs - counted.atMs > COUNT_EVERY_MS) {
				counted = { atMs: nowMs, use: diskUse(folder, index) };
				counted.use.catch(() => (counted = undefined));
			}
			return await counted.use.catch(() => {
				throw new ApiError(503, "The archive's folder can't be read");
			});
		});
		web.post(
			'/web/check',
			{ onRequest: async (request) => requireSession(service, request) },
			async (_request, reply) => {
				if (!check.start()) throw new ApiError(409, 'The archive is being checked already');
				return reply.code(202).send(await answer());
			},
		);
	});
}

/** The last run of `archive`, from its report; null without one. */
async function lastRunOf(folder: string): Promise<ArchiveRun | null> {
	const { updatedAt, summary, isComplete } = (await readReport(folder)) ?? {};
	if (typeof updatedAt !== 'string' || Number.isNaN(Date.parse(updatedAt))) return null;
	return {
		at: updatedAt,
		summary: typeof summary === 'string' ? summary : '',
		isComplete: isComplete === true,
	};
}
