import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { isForPage } from './keys.tsx';

/** Where the focus goes from here; undefined where there is nothing. */
function target(transcript: HTMLElement, step: 1 | -1): HTMLElement | undefined {
	const buttons = [...transcript.querySelectorAll<HTMLElement>('[data-line] button[tabindex]')];
	const now = buttons.findIndex((each) => each === document.activeElement);
	if (now >= 0) return buttons[now + step];
	// The line that plays, else the first one in sight.
	const playing = transcript.querySelector('[aria-current]')?.closest('[data-line]');
	return (
		playing?.querySelector<HTMLElement>('button.time') ??
		buttons.find((each) => each.getBoundingClientRect().top >= 0)
	);
}

/** Moves through the buttons of a transcript by ↑ and ↓: it's one stop for Tab. */
export function useTranscriptKeys(transcript: RefObject<HTMLElement | null>): void {
	useEffect(() => {
		const element = transcript.current!;
		const onKey = (event: KeyboardEvent) => {
			const step = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
			if (step === undefined || !isForPage(event)) return;
			const to = target(element, step);
			if (!to) return;
			event.preventDefault();
			to.focus();
		};
		element.addEventListener('keydown', onKey);
		return () => element.removeEventListener('keydown', onKey);
	}, []);
}
