import { useState } from 'preact/hooks';

/**
 * Has the message of the last thing that was attempted and failed; empty after a success.
 *
 * @returns The message, and what waits for an attempt.
 */
export function useAttempt(): [problem: string, attempt: (running: Promise<unknown>) => void] {
	const [problem, setProblem] = useState('');
	const attempt = (running: Promise<unknown>) =>
		void running.then(
			() => setProblem(''),
			(error: unknown) => setProblem((error as Error).message),
		);
	return [problem, attempt];
}
