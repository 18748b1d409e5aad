// Lifelogs that somebody has deleted. For ten seconds nothing is sent, and they can be kept after all:
// also by closing the tab.
import { useEffect, useState } from 'preact/hooks';
import { deleteLifelog } from './api.mts';
import { RequestError } from './request.mts';
import { forgetLoaded } from './useLoad.mts';

const UNDO_S = 10;

/** What is told of a lifelog that is deleted. */
export interface Deletable {
	id: string;
	title: string | null;
}

/** Lifelogs that are deleted together. */
export interface Deletion {
	lifelogs: Deletable[];
	state: 'waiting' | 'deleting' | 'done' | 'failed';
	/** Until it's sent. */
	secondsLeft: number;
	/** How many are deleted. */
	done: number;
	/** Why those that are left couldn't be. */
	problem: string;
}

let deletions: Deletion[] = [];
/** The lifelogs that lists no longer show. */
const hidden = new Set<string>();
const listeners = new Set<() => void>();

function tell(): void {
	deletions = [...deletions];
	for (const listen of listeners) listen();
}

/** Deletes lifelogs in ten seconds, unless that is undone. */
export function deleteSoon(chosen: Deletable[]): void {
	// One that is still shown somewhere isn't deleted twice: a second Undo would keep only its line.
	const begun = new Set(
		deletions.flatMap(({ lifelogs, state }) =>
			state === 'done' ? [] : lifelogs.map(({ id }) => id),
		),
	);
	const lifelogs = chosen.filter(({ id }) => !begun.has(id));
	if (lifelogs.length === 0) return;
	const deletion: Deletion = {
		...{ lifelogs, state: 'waiting', secondsLeft: UNDO_S, done: 0, problem: '' },
	};
	for (const { id } of lifelogs) hidden.add(id);
	// What was told of earlier ones has been read.
	deletions = [...deletions.filter(({ state }) => state !== 'done'), deletion];
	tell();
	const timer = setInterval(() => {
		if (deletion.state !== 'waiting') return clearInterval(timer);
		deletion.secondsLeft -= 1;
		if (deletion.secondsLeft <= 0) void carryOut(deletion);
		tell();
	}, 1_000);
}

/** Deletes what is left of it, one after the other. */
export async function carryOut(deletion: Deletion): Promise<void> {
	deletion.state = 'deleting';
	deletion.problem = '';
	tell();
	for (const { id } of deletion.lifelogs.slice(deletion.done)) {
		try {
			await deleteLifelog(id);
		} catch (error) {
			// One that is gone already is what was wanted.
			if (!(error instanceof RequestError && error.status === 404)) {
				deletion.problem = (error as Error).message;
				break;
			}
		}
		deletion.done += 1;
		tell();
	}
	deletion.state = deletion.problem === '' ? 'done' : 'failed';
	forgetLoaded();
	tell();
}

/** Keeps what isn't deleted yet, and tells of it no longer. */
export function keep(deletion: Deletion): void {
	if (deletion.state !== 'done') {
		for (const { id } of deletion.lifelogs.slice(deletion.done)) hidden.delete(id);
	}
	// Its timer ends.
	if (deletion.state === 'waiting') deletion.state = 'done';
	deletions = deletions.filter((each) => each !== deletion);
	tell();
}

/** Keeps everything that isn't sent yet: nobody is signed in any more. */
export function keepAll(): void {
	for (const each of deletions.filter(({ state }) => state !== 'deleting')) keep(each);
}

/** What is being deleted, the newest last. */
export function useDeletions(): Deletion[] {
	const [shown, setShown] = useState(deletions);
	useEffect(() => {
		const listen = () => setShown(deletions);
		listeners.add(listen);
		listen();
		return () => void listeners.delete(listen);
	}, []);
	return shown;
}

/** A list without what is being deleted. */
export function useKeptOf<Listed extends { id: string }>(list: Listed[]): Listed[] {
	useDeletions();
	return list.filter(({ id }) => !hidden.has(id));
}
