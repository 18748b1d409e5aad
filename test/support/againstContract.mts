// Apart from contract.mts, so that a test file doesn't read the contract only to stop a server.

/** With this a line begins that says what an answer had against the contract. */
export const AGAINST_CONTRACT = 'Against the contract: ';

/** Fails for the answers that were against openapi.yaml. */
export function throwIfAgainstContract(log: string[]): void {
	const against = log.filter((line) => line.startsWith(AGAINST_CONTRACT));
	if (against.length > 0) throw new Error(against.join('\n'));
}
