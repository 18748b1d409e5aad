// Lifelogs that the user has deleted. Requests are sent after ten seconds. Until then, deleting can
// be undone, also by closing the tab.
import { useEffect, useState } from 'preact/hooks';
import { deleteLifelog } from './api.mts';
import { RequestError } from './request.mts';
import { forgetLoaded } from './useLoad.mts';

const UNDO_S = 10;

/** A deleted lifelog for display. */
export interface Deletable {
	id: string;
	title: string | null;
}

/** Lifelogs that are deleted together. */
export interface Deletion {
	lifelogs: Deletable[];
	state: 'waiting' | 'deleting' | 'done' | 'failed';
	/** Until the requests are sent. */
	secondsLeft: number;
	/** Number of deleted lifelogs. */
	done: number;
	/** Why the remaining ones couldn't be deleted. */
	problem: string;
}

let deletions: Deletion[] = [];
/** Lifelogs hidden from lists. */
const hidden = new Set<string>();
const listeners = new Set<() => void>();

function tell(): void {
	deletions = [...deletions];
	for (const listen of listeners) listen();
}

/** Deletes lifelogs in ten seconds, unless it is undone. */
export function deleteSoon(chosen: Deletable[]): void {
	// One that is still shown somewhere isn't deleted twice: a second Undo would keep only its line.
	const begun = new Set(
		deletions.flatMap(({ lifelogs, state }) =>
			state === 'waiting' || state === 'deleting' ? lifelogs.map(({ id }) => id) : [],
		),
	);
	const lifelogs = chosen.filter(({ id }) => !begun.has(id));
	if (lifelogs.length === 0) return;
	const deletion: Deletion = {
		...{ lifelogs, state: 'waiting', secondsLeft: UNDO_S, done: 0, problem: '' },
	};
	for (const { id } of lifelogs) hidden.add(id);
	// Messages about earlier deletions have been read.
	deletions = [...deletions.filter(({ state }) => state !== 'done'), deletion];
	tell();
	const timer = setInterval(() => {
		if (deletion.state !== 'waiting') return clearInterval(timer);
		deletion.secondsLeft -= 1;
		if (deletion.secondsLeft <= 0) void carryOut(deletion);
		tell();
	}, 1_000);
}

/** Deletes the remaining lifelogs one by one. */
export async function carryOut(deletion: Deletion): Promise<void> {
	deletion.state = 'deleting';
	deletion.problem = '';
	tell();
	for (const { id } of deletion.lifelogs.slice(deletion.done)) {
		try {
			await deleteLifelog(id);
		} catch (error) {
			// A 404 is a success: the lifelog is gone.
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

/** Keeps the lifelogs that aren't deleted yet, and removes the message. */
export function keep(deletion: Deletion): void {
	if (deletion.state !== 'done') {
		for (const { id } of deletion.lifelogs.slice(deletion.done)) hidden.delete(id);
	}
	// Its timer ends.
	if (deletion.state === 'waiting') deletion.state = 'done';
	deletions = deletions.filter((each) => each !== deletion);
	tell();
}

/** Keeps all lifelogs that aren't deleted yet, because the session has ended. */
export function keepAll(): void {
	for (const each of deletions.filter(({ state }) => state !== 'deleting')) keep(each);
}

/** Deletions in progress, newest last. */
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

/** A list without entries that are being deleted. */
export function useKeptOf<Listed extends { id: string }>(list: Listed[]): Listed[] {
	useDeletions();
	return list.filter(({ id }) => !hidden.has(id));
}
