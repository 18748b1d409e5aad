import { createEngine, type Engine, type EngineOptions, loadPackage } from './engine.mts';
import { type TestSandbox, startSandbox } from './sandbox.mts';

/** Where a service is, and the key for it; any key unless given. */
export interface Address {
	url: string;
	apiKey?: string;
}

/** An engine with this package and its credential for a service. Node types are added to its own. */
export async function engineAt(
	{ url, apiKey = 'key' }: Address,
	options: Partial<EngineOptions> = {},
): Promise<Engine> {
	const { nodeTypes, credentialTypes } = loadPackage();
	return await createEngine({
		credentialTypes,
		credentials: { lifelogApi: { apiKey, baseUrl: url } },
		...options,
		nodeTypes: { ...nodeTypes, ...options.nodeTypes },
	});
}

/** A service, and an engine for it. */
export interface LabAt<Service> {
	service: Service;
	engine: Engine;
	/** Ends both. */
	close: () => Promise<void>;
}

/** An engine for any service that was started. */
export async function startLabAt<Service extends Address & { close: () => unknown }>(
	service: Service,
	options?: Partial<EngineOptions>,
): Promise<LabAt<Service>> {
	const engine = await engineAt(service, options);
	const close = async () => {
		await engine.close();
		await service.close();
	};
	return { service, engine, close };
}

/** A sandbox, and an engine for it. */
export interface Lab extends Omit<LabAt<TestSandbox>, 'service'> {
	sandbox: TestSandbox;
}

/**
 * Starts both.
 *
 * @param days How many days of data the sandbox makes up; none: its own default.
 */
export async function startLab(days?: number, options?: Partial<EngineOptions>): Promise<Lab> {
	const { service: sandbox, ...lab } = await startLabAt(await startSandbox({ days }), options);
	return { sandbox, ...lab };
}
