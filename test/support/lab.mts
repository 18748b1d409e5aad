import { createEngine, type Engine, type EngineOptions, loadPackage } from './engine.mts';
import { type SpawnedSandbox, startSandbox } from './sandbox.mts';

/** A sandbox, and an engine with this package and the sandbox's credential. */
export interface Lab {
	sandbox: SpawnedSandbox;
	engine: Engine;
	close: () => Promise<void>;
}

/**
 * Starts both.
 *
 * @param days How many days of data the sandbox makes up; none: its own default.
 */
export async function startLab(days?: number, options?: Partial<EngineOptions>): Promise<Lab> {
	const sandbox = await startSandbox(days === undefined ? [] : ['--days', String(days)]);
	const { apiKey, url: baseUrl } = sandbox;
	const credentials = { lifelogApi: { apiKey, baseUrl } };
	const engine = await createEngine({ ...loadPackage(), credentials, ...options });
	const close = async () => {
		await engine.close();
		await sandbox.close();
	};
	return { sandbox, engine, close };
}
