// What must not stay behind, however this process ends: servers, temporary folders.
import { constants } from 'node:os';
import { asError } from '../../../server/util/errors.mts';

interface Cleanup {
	/** The orderly way: when done with it, or on SIGINT and SIGTERM. */
	orderly: () => Promise<void>;
	/** The last resort when the process ends otherwise, e.g. by an error. Cannot wait. */
	immediate: () => void;
}

const pending = new Set<Cleanup>();

/**
 * Registers what must be cleaned up even if this process is interrupted or fails. The latest comes
 * first.
 *
 * @returns Does the orderly cleanup now, once, and takes it off the list.
 */
export function cleanupOnExit(cleanup: Cleanup): () => Promise<void> {
	listen();
	let ended: Promise<void> | undefined;
	const once: Cleanup = {
		// On the list until it is done: the process may end meanwhile.
		orderly: async () => await (ended ??= cleanup.orderly().finally(() => pending.delete(once))),
		immediate: cleanup.immediate,
	};
	pending.add(once);
	return once.orderly;
}

let listening = false;

function listen(): void {
	if (listening) return;
	listening = true;
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => {
			void cleanUp().finally(() => process.exit(128 + constants.signals[signal]));
		});
	}
	process.once('exit', () => {
		for (const { immediate } of [...pending].reverse()) immediate();
	});
}

let ending: Promise<void> | undefined;

async function cleanUp(): Promise<void> {
	ending ??= (async () => {
		for (const cleanup of [...pending].reverse()) {
			await cleanup.orderly().catch((error: unknown) => console.error(asError(error).message));
		}
	})();
	await ending;
}
