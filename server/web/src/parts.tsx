import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Loaded } from './useLoad.mts';

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
	useEffect(() => {
		document.title = `${title} · Lifelogs`;
	}, [title]);
}

/** Shows what was loaded; until then that it is, or why it wasn't. */
export function Load<Value>({
	of: { value, error, reload },
	children,
}: {
	of: Loaded<Value>;
	children: (value: Value) => ComponentChildren;
}) {
	if (value !== undefined) return <>{children(value)}</>;
	if (!error) return <p class="quiet loading">Loading…</p>;
	return (
		<div class="notice" role="alert">
			<p>{error.message}</p>
			<button type="button" aria-keyshortcuts="r" onClick={reload}>
				Try again
			</button>
		</div>
	);
}

/** A window over the page. It closes with Escape. */
export function Dialog({
	title,
	onClose,
	children,
}: {
	title: string;
	onClose: () => void;
	children: ComponentChildren;
}) {
	const element = useRef<HTMLDialogElement>(null);
	useEffect(() => element.current?.showModal(), []);
	return (
		<dialog ref={element} aria-label={title} onClose={onClose}>
			<h2>{title}</h2>
			{children}
		</dialog>
	);
}

/** Whether a key was pressed in a field, where it writes. */
export function isTyping({ target }: Event): boolean {
	return (
		target instanceof Element &&
		target.matches('input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]')
	);
}

/** A star that tells, and doesn't change. */
export function Star() {
	return (
		<span class="star" role="img" aria-label="Starred">
			★
		</span>
	);
}
