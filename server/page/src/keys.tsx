import { Fragment } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Dialog, isTyping } from './parts.tsx';

// A control gets a shortcut by its `aria-keyshortcuts`; nothing else is needed. Here and elsewhere,
// keys are handled from a layout effect: after the next paint, a first key could be missed.

/** Whether character keys are shortcuts. Users who dictate would press them by accident. */
const areKeysOn = () => localStorage.getItem('keys') !== 'off';

/**
 * Visible controls, and those of the header's menu, by shortcut. If the view and the header share a
 * key, the view's control has it.
 */
function controls(): Map<string, HTMLElement> {
	const seen = [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')].filter(
		(element) => element.checkVisibility() || element.closest('.more'),
	);
	return new Map(seen.map((element) => [element.getAttribute('aria-keyshortcuts')!, element]));
}

/** Whether a key is a shortcut: not in a field, with Ctrl, or with an open dialog. */
export function isForPage(event: KeyboardEvent): boolean {
	return !(
		event.defaultPrevented ||
		isTyping(event) ||
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		(/^\S$/.test(event.key) && !areKeysOn()) ||
		document.querySelector('dialog:modal')
	);
}

/** Handles shortcuts: fields are focused, other controls clicked. */
export function useKeys(): void {
	useLayoutEffect(() => {
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

/** Targets of ↑ and ↓: the entries of lists. */
const entries = () =>
	[...document.querySelectorAll<HTMLElement>('main [data-entry]')].filter((each) =>
		each.checkVisibility(),
	);

/** Moves through list entries with ↑ and ↓. The calendar handles these keys itself. */
export function useEntryKeys(): void {
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
			const field = document.activeElement;
			// From its field, a search continues into the results.
			const isInSearch = field instanceof HTMLInputElement && field.type === 'search';
			if (step === undefined || event.defaultPrevented) return;
			if (!isForPage(event) && !(isInSearch && step > 0)) return;
			const all = entries();
			const now = all.findIndex((each) => each === field);
			if (now < 0 && document.querySelector('.months')) return;
			const next =
				now < 0 && step > 0 && !isInSearch
					? all.find((each) => each.getBoundingClientRect().top >= 0)
					: all[now + step];
			const to = next ?? (now === 0 && step < 0 ? searchField() : undefined);
			if (!to) return;
			event.preventDefault();
			to.focus();
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
}

const searchField = () => document.querySelector<HTMLElement>('main input[type=search]');

/** Symbols for keys with long names. */
const SIGNS: Record<string, string> = {
	ArrowLeft: '←',
	ArrowRight: '→',
	'ArrowLeft ArrowRight': '← →',
	'ArrowUp ArrowDown': '↑ ↓',
};

/** Lists the shortcuts of visible controls, with a switch to turn them off. */
export function KeysHelp({ onClose }: { onClose: () => void }) {
	const [keys] = useState(() => [...controls()].map(([key, of]) => ({ key, name: nameOf(of) })));
	const [isOn, setOn] = useState(areKeysOn);
	return (
		<Dialog title="Keyboard shortcuts" onClose={onClose}>
			<label class="check">
				<input
					type="checkbox"
					checked={isOn}
					onChange={({ currentTarget: { checked } }) => {
						localStorage.setItem('keys', checked ? 'on' : 'off');
						setOn(checked);
					}}
				/>{' '}
				Use single-key shortcuts
			</label>
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
			{entries().length > 0 && (
				<p class="quiet">
					<kbd>↑</kbd> <kbd>↓</kbd> move through the list.
				</p>
			)}
			{document.querySelector('.months') && (
				<p class="quiet">
					Arrow keys move by day, Page Up and Page Down by month. Press <b>t</b> for today.
				</p>
			)}
			{document.querySelector('.edit-line') && (
				<p class="quiet">
					Press <b>i</b> to edit the line that has the focus or plays.
				</p>
			)}
			<p class="quiet">Press Escape to close.</p>
		</Dialog>
	);
}

function nameOf(element: HTMLElement): string {
	const label = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
	const text = label ? labelOf(element) : element.textContent;
	return (element.ariaLabel ?? text).trim();
}

/** The text of a field's label, without the field's own text. */
function labelOf({ labels, type }: HTMLInputElement | HTMLSelectElement): string {
	const [label] = labels ?? [];
	return label?.querySelector('.hidden')?.textContent ?? label?.innerText.split('\n')[0] ?? type;
}
