import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WindowVirtualizerHandle } from 'virtua';
import { isForPage } from './keys.tsx';
import type { Editing } from './useEditing.mts';

/** The line that a key is about: that with the focus, else the one that plays, else the first in sight. */
function lineOfKey(current: number): number {
	const focused = document.activeElement?.closest<HTMLElement>('[data-line]');
	if (focused) return Number(focused.dataset.line);
	if (current >= 0) return current;
	const lines = [...document.querySelectorAll<HTMLElement>('[data-line]')];
	const seen = lines.find((line) => line.getBoundingClientRect().top >= 0);
	return Number(seen?.dataset.line ?? -1);
}

/**
 * The key that edits a line. And what is typed after the field with the focus was scrolled out of the page,
 * as the list then has no such field: it is scrolled back, like any field in which somebody types.
 *
 * @param current The line that plays; -1 for none.
 */
export function useEditKeys(
	{ drafts, lost }: Editing,
	onEdit: ((index: number) => void) | undefined,
	current: number,
	list: RefObject<WindowVirtualizerHandle | null>,
): void {
	useEffect(() => {
		const goTo = (index: number) => list.current?.scrollToIndex(index, { align: 'center' });
		const onKey = (event: KeyboardEvent) => {
			const left = lost.current;
			if (left !== undefined && drafts.has(left) && isOfText(event)) {
				event.preventDefault();
				goTo(left);
				return;
			}
			if (event.key !== 'i' || !onEdit || !isForPage(event)) return;
			event.preventDefault();
			const index = lineOfKey(current);
			onEdit(index);
			if (!isSeen(index)) goTo(index);
		};
		const onPointer = () => (lost.current = undefined);
		// Before the page's own keys.
		addEventListener('keydown', onKey, { capture: true });
		addEventListener('pointerdown', onPointer);
		return () => {
			removeEventListener('keydown', onKey, { capture: true });
			removeEventListener('pointerdown', onPointer);
		};
	});
}

/** Whether a key would write or delete something. */
const isOfText = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
	!ctrlKey && !metaKey && !altKey && /^(.|Backspace|Delete|Enter)$/u.test(key);

/** Whether a line is in sight, above the player. */
function isSeen(index: number): boolean {
	const box = document.querySelector(`[data-line="${index}"]`)?.getBoundingClientRect();
	return box !== undefined && box.top > 0 && box.bottom < innerHeight - 100;
}
