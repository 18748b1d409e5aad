import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog, isTyping } from './parts.tsx';

// A control names its key in `aria-keyshortcuts`. This is all that it has to do.

/** The controls that can be seen by their keys. Of two with one key, the view's, not the header's. */
function controls(): Map<string, HTMLElement> {
	const seen = [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')].filter(
		(element) => element.checkVisibility(),
	);
	return new Map(seen.map((element) => [element.getAttribute('aria-keyshortcuts')!, element]));
}

/** Whether a key was pressed for the page: not in a field, with Ctrl, or beside an open dialog. */
export function isForPage(event: KeyboardEvent): boolean {
	return !(
		event.defaultPrevented ||
		isTyping(event) ||
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		document.querySelector('dialog[open]')
	);
}

/** Gives each control its key: fields are focused, the others clicked. */
export function useKeys(): void {
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (!isForPage(event)) return;
			const control = controls().get(event.key);
			if (!control) return;
			event.preventDefault();
			if (control.matches('select, input:not([type=checkbox])')) control.focus();
			else control.click();
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
}

/** How keys with long names are shown. */
const SIGNS: Record<string, string> = {
	ArrowLeft: '←',
	ArrowRight: '→',
	'ArrowLeft ArrowRight': '← →',
};

/** A list of the keys of what can be seen. */
export function KeysHelp() {
	const [keys, setKeys] = useState<{ key: string; name: string }[]>();
	const open = () => setKeys([...controls()].map(([key, of]) => ({ key, name: nameOf(of) })));
	return (
		<>
			<button type="button" class="plain by-keys" aria-keyshortcuts="?" onClick={open}>
				Keys
			</button>
			{keys && (
				<Dialog title="Keys" onClose={() => setKeys(undefined)}>
					<dl class="facts">
						{keys.map(({ key, name }) => (
							<Fragment key={key}>
								<dt>
									<kbd>{SIGNS[key] ?? key}</kbd>
								</dt>
								<dd>{name}</dd>
							</Fragment>
						))}
					</dl>
					<p class="quiet">Escape closes this.</p>
				</Dialog>
			)}
		</>
	);
}

function nameOf(element: HTMLElement): string {
	const label = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
	const text = label ? labelOf(element) : element.textContent;
	return (element.ariaLabel ?? text).trim();
}

/** The text of a field's label without that of the field. */
function labelOf({ labels, type }: HTMLInputElement | HTMLSelectElement): string {
	const [label] = labels ?? [];
	return label?.querySelector('.hidden')?.textContent ?? label?.innerText.split('\n')[0] ?? type;
}
