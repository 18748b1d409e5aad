// A thread of a campaign: plays what it is told to, until there is nothing more.
import { parentPort, workerData } from 'node:worker_threads';
import { type Failure, playKind } from './campaign.mts';
import { createTheatre, type Totals } from './stage.mts';
import { inProcess, overHttp } from './wire.mts';

/** Histories of one kind. */
export interface Task {
	kind: string;
	runs: number;
	seed: number;
	/** Of a failure, to play that one alone. */
	path?: string;
}

/** What came of them. */
export interface Played {
	failure?: Failure;
	totals: Totals;
}

const { dir, http } = workerData as { dir?: string; http?: boolean };
const theatre = await createTheatre(http ? await overHttp() : inProcess(), dir);

parentPort!.on('message', (task: Task | undefined) => {
	void (task ? answer(task) : end());
});

async function answer({ kind, runs, seed, path }: Task): Promise<void> {
	const failure = await playKind(theatre, kind, runs, seed, path);
	const played: Played = { failure, totals: theatre.takeTotals() };
	parentPort!.postMessage(played);
}

async function end(): Promise<void> {
	await theatre.close();
	parentPort!.close();
}
