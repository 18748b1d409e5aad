import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { isForPage } from './keys.tsx';

const buttonsOf = (line: Element) => [...line.querySelectorAll<HTMLElement>('button[tabindex]')];

/** The button of a line that ↑ and ↓ focus. */
const entryOf = (line: Element) =>
	line.querySelector<HTMLElement>('button.time') ?? buttonsOf(line)[0];

/** The next target of the focus; undefined at the end. */
function target(transcript: HTMLElement, step: 1 | -1): HTMLElement | undefined {
	const lines = [...transcript.querySelectorAll<HTMLElement>('[data-line]')].filter(entryOf);
	const now = lines.findIndex((each) => each.contains(document.activeElement));
	// The playing line, else the first visible one.
	const to =
		now >= 0
			? lines[now + step]
			: (lines.find((each) => each.querySelector('[aria-current]')) ??
				lines.find((each) => each.getBoundingClientRect().top >= 0));
	return to && entryOf(to);
}

/** Moves through the lines of a transcript with ↑ and ↓. Tab only stops at the buttons of one line. */
export function useTranscriptKeys(transcript: RefObject<HTMLElement | null>): void {
	useLayoutEffect(() => {
		const element = transcript.current!;
		const onKey = (event: KeyboardEvent) => {
			const step = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
			if (step === undefined || !isForPage(event)) return;
			const { activeElement } = document;
			const isElsewhere = !element.contains(activeElement);
			// If nothing has the focus, ↓ moves into the transcript.
			if (isElsewhere && !(step > 0 && activeElement?.matches('body, #main'))) return;
			const to = target(element, step);
			if (!to) return;
			event.preventDefault();
			to.focus();
		};
		const onFocus = (event: FocusEvent) => {
			const line = (event.target as Element).closest('[data-line]');
			if (!line) return;
			for (const button of buttonsOf(element)) button.tabIndex = line.contains(button) ? 0 : -1;
		};
		addEventListener('keydown', onKey);
		element.addEventListener('focusin', onFocus);
		return () => {
			removeEventListener('keydown', onKey);
			element.removeEventListener('focusin', onFocus);
		};
	}, []);
}
