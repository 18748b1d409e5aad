import { useState } from 'preact/hooks';

/**
 * Keeps the message of the last failed attempt; empty after a success.
 *
 * @returns The message, and a function that awaits an attempt.
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
