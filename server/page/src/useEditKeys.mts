import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { WindowVirtualizerHandle } from 'virtua';
import { isForPage } from './keys.tsx';
import type { Editing } from './useEditing.mts';

/** The line for a key: the focused one, else the playing one, else the first visible one. */
function lineOfKey(current: number): number {
	const focused = document.activeElement?.closest<HTMLElement>('[data-line]');
	if (focused) return Number(focused.dataset.line);
	if (current >= 0) return current;
	const lines = [...document.querySelectorAll<HTMLElement>('[data-line]')];
	const seen = lines.find((line) => line.getBoundingClientRect().top >= 0);
	return Number(seen?.dataset.line ?? -1);
}

/**
 * Handles the key that edits a line. Also handles typing after the focused field was scrolled out
 * of view. The list has removed this field, so it is scrolled back, as browsers do.
 *
 * @param current The playing line; -1 for none.
 */
export function useEditKeys(
	{ drafts, lost }: Editing,
	onEdit: ((index: number) => void) | undefined,
	current: number,
	list: RefObject<WindowVirtualizerHandle | null>,
): void {
	useLayoutEffect(() => {
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
		// Before the page's own shortcuts.
		addEventListener('keydown', onKey, { capture: true });
		addEventListener('pointerdown', onPointer);
		return () => {
			removeEventListener('keydown', onKey, { capture: true });
			removeEventListener('pointerdown', onPointer);
		};
	});
}

/** Whether a key would write or delete text. */
const isOfText = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
	!ctrlKey && !metaKey && !altKey && /^(.|Backspace|Delete|Enter)$/u.test(key);

/** Whether a line is visible above the player. */
function isSeen(index: number): boolean {
	const box = document.querySelector(`[data-line="${index}"]`)?.getBoundingClientRect();
	return box !== undefined && box.top > 0 && box.bottom < innerHeight - 100;
}
