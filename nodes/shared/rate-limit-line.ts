import { unlessAborted } from './rate-limit';

/**
 * Where requests of one run that are made at once stand in line while the rate limit lets few in.
 * Sent together they would take each other's places, and one of them could wait for longer than is
 * allowed while page after page gets through.
 */
export interface Line {
	/** Whether one of them has its turn. */
	isTaken: boolean;
	/** Each is told whether it has its turn, or all may go. */
	waiting: Array<(hasTurn: boolean) => void>;
}

/** The turn of one request in a {@link Line}. */
export interface Turn {
	/**
	 * Waits until it has come, first come, first served, or until all may go.
	 *
	 * @throws The signal's reason, at once.
	 */
	take(signal?: AbortSignal): Promise<void>;
	/**
	 * Ends it, where it has come; it is the next one's then.
	 *
	 * @param isOpen Whether all who stand in line may go at once instead.
	 */
	end(isOpen?: boolean): void;
}

/** A turn that is not waited for yet. */
export function turnIn(line: Line): Turn {
	let hasTurn = false;

	const end = (isOpen = false) => {
		if (!hasTurn) return;
		hasTurn = false;
		if (isOpen) for (const letGo of line.waiting.splice(0)) letGo(false);
		const next = line.waiting.shift();
		line.isTaken = next !== undefined;
		next?.(true);
	};

	return {
		async take(signal) {
			if (hasTurn) return;
			if (!line.isTaken) {
				hasTurn = line.isTaken = true;
				return;
			}
			let isGone = false;
			const called = new Promise<void>((resolve) => {
				line.waiting.push((isTurn) => {
					hasTurn = isTurn;
					if (isGone) end();
					else resolve();
				});
			});
			try {
				await unlessAborted(called, signal);
			} finally {
				isGone = true;
			}
		},
		end,
	};
}
