// n8n in queue mode: a main process, workers, Redis and PostgreSQL.
import { NEWEST } from '../install.mts';
import { startLab, type Lab, type LabOptions } from './lab.mts';
import { freePorts } from '../../support/ports.mts';
import { startProcess } from './processes.mts';
import { n8nCommand, n8nEnvironment } from './server.mts';
import { startPostgres, startRedis } from './services.mts';

/** A lab whose executions run on workers. */
export interface QueueLab extends Lab {
	/** For each worker the ids of the executions it has started. */
	executions: Array<Set<string>>;
}

/** Options of `startQueueLab`. */
export interface QueueOptions {
	workers: number;
	/** How many executions a worker runs at once. */
	concurrency: number;
	sandbox?: LabOptions['sandbox'];
}

/** Starts everything anew. Closes what came up if something does not. */
export async function startQueueLab(options: QueueOptions): Promise<QueueLab> {
	const closers: Array<() => Promise<void>> = [];
	const close = async () => {
		for (let closer = closers.pop(); closer; closer = closers.pop()) await closer();
	};
	try {
		const redis = await startRedis();
		closers.push(redis.stop);
		const postgres = await startPostgres();
		closers.push(postgres.stop);
		const env = {
			EXECUTIONS_MODE: 'queue',
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			QUEUE_HEALTH_CHECK_ACTIVE: 'true',
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres.port),
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: 'n8n',
		};
		const lab = await startLab({ env, sandbox: options.sandbox });
		closers.push(lab.close);
		const executions: Array<Set<string>> = [];
		for (let number = 1; number <= options.workers; number++) {
			const started = new Set<string>();
			closers.push(await startWorker(lab, number, options.concurrency, env, started));
			executions.push(started);
		}
		return { ...lab, executions, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** @returns Stops it. */
async function startWorker(
	{ userFolder }: Lab,
	number: number,
	concurrency: number,
	env: NodeJS.ProcessEnv,
	started: Set<string>,
): Promise<() => Promise<void>> {
	const [brokerPort, healthPort] = await freePorts(2);
	const worker = await startProcess({
		name: `n8n worker ${number}`,
		...n8nCommand(NEWEST, ['worker', `--concurrency=${concurrency}`]),
		env: {
			...n8nEnvironment(userFolder),
			...env,
			N8N_RUNNERS_BROKER_PORT: String(brokerPort),
			N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
			QUEUE_HEALTH_CHECK_PORT: String(healthPort),
		},
		isReady: async () => (await fetch(`http://127.0.0.1:${healthPort}/healthz/readiness`)).ok,
		onLine: (line) => {
			const execution = /started execution (\d+)/.exec(line)?.[1];
			if (execution) started.add(execution);
		},
	});
	return worker.stop;
}
