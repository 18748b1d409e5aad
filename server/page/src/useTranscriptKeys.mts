import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { isForPage } from './keys.tsx';

const buttonsOf = (line: Element) => [...line.querySelectorAll<HTMLElement>('button[tabindex]')];

/** The button of a line that ↑ and ↓ lead to. */
const entryOf = (line: Element) =>
	line.querySelector<HTMLElement>('button.time') ?? buttonsOf(line)[0];

/** Where the focus goes from here; undefined where there is nothing. */
function target(transcript: HTMLElement, step: 1 | -1): HTMLElement | undefined {
	const lines = [...transcript.querySelectorAll<HTMLElement>('[data-line]')].filter(entryOf);
	const now = lines.findIndex((each) => each.contains(document.activeElement));
	// The line that plays, else the first one in sight.
	const to =
		now >= 0
			? lines[now + step]
			: (lines.find((each) => each.querySelector('[aria-current]')) ??
				lines.find((each) => each.getBoundingClientRect().top >= 0));
	return to && entryOf(to);
}

/** Moves through the lines of a transcript by ↑ and ↓: for Tab, only the buttons of one line are stops. */
export function useTranscriptKeys(transcript: RefObject<HTMLElement | null>): void {
	useEffect(() => {
		const element = transcript.current!;
		const onKey = (event: KeyboardEvent) => {
			const step = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
			if (step === undefined || !isForPage(event)) return;
			const { activeElement } = document;
			const isElsewhere = !element.contains(activeElement);
			// Where nothing has the focus, ↓ leads into the transcript.
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
