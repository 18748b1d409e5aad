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

/** A request's place in a {@link Line}. */
export interface Place {
	/**
	 * Waits until it is this one's turn, first come, first served, or all may go.
	 *
	 * @throws The signal's reason, at once.
	 */
	stand(signal?: AbortSignal): Promise<void>;
	/**
	 * Ends its turn, if it has one; the next one has it then.
	 *
	 * @param isOpen Whether all who stand in line may go at once instead.
	 */
	leave(isOpen?: boolean): void;
}

/** A place in a line, not taken yet. */
export function placeIn(line: Line): Place {
	let hasTurn = false;

	const leave = (isOpen = false) => {
		if (!hasTurn) return;
		hasTurn = false;
		if (isOpen) for (const letGo of line.waiting.splice(0)) letGo(false);
		const next = line.waiting.shift();
		line.isTaken = next !== undefined;
		next?.(true);
	};

	return {
		async stand(signal) {
			if (hasTurn) return;
			if (!line.isTaken) {
				hasTurn = line.isTaken = true;
				return;
			}
			let isGone = false;
			const called = new Promise<void>((resolve) => {
				line.waiting.push((isTurn) => {
					hasTurn = isTurn;
					if (isGone) leave();
					else resolve();
				});
			});
			try {
				await unlessAborted(called, signal);
			} finally {
				isGone = true;
			}
		},
		leave,
	};
}
