import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readStatus, type EndpointState, type IndexState, type Page } from './api.mts';
import { count, figure } from './format.mts';
import type { RequestError } from './request.mts';
import { useAttempt } from './useAttempt.mts';
import { useLoad, type Loaded } from './useLoad.mts';

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
	useEffect(() => {
		document.title = `${title} · Lifelogs`;
	}, [title]);
}

/** Whether there is room beside the text. The styles use the same width. */
export const isWide = () => matchMedia('(min-width: 900px)').matches;

/** Shows a loaded value, or why loading fails. */
export function Load<Value>({
	of: { value, error, reload },
	notFound,
	children,
}: {
	of: Loaded<Value>;
	/** Shown if nothing with this name exists. */
	notFound?: ComponentChildren;
	children: (value: Value) => ComponentChildren;
}) {
	if (value === undefined && !error) return <p class="quiet loading">Loading…</p>;
	if (value === undefined && error?.status === 404 && notFound) return <>{notFound}</>;
	if (value === undefined && error?.status === 503 && error.retryAfterS !== undefined) {
		return <Waiting error={error} onRetry={reload} />;
	}
	return (
		<>
			{error && (
				<div class="notice" role="alert">
					<p>{error.message}</p>
					<button type="button" aria-keyshortcuts="a" onClick={reload}>
						Try again
					</button>
				</div>
			)}
			{value !== undefined && children(value)}
		</>
	);
}

/** Shows the progress of a server that isn't ready, and retries. */
function Waiting({ error, onRetry }: { error: RequestError; onRetry: () => void }) {
	const status = useLoad('status', readStatus);
	useEffect(() => {
		const timer = setTimeout(() => {
			status.reload();
			onRetry();
		}, 1000 * error.retryAfterS!);
		return () => clearTimeout(timer);
	}, [error]);
	const index = status.value?.index;
	if (index && index.state !== 'ready') return <IndexProgress index={index} />;
	return <p class="notice">{error.message}</p>;
}

/** Explains why there are no lifelogs yet. */
export function IndexProgress({ index: { state, done = 0, total = 0 } }: { index: IndexState }) {
	const what = state === 'indexing' ? 'The index is being built' : 'The index is damaged';
	const progress = total > 0 ? `: ${figure(done)} of ${count(total, 'day')} read` : '';
	return (
		<div class="notice" role="status">
			<p>
				{what}
				{progress}. Lifelogs appear here once it's ready.
			</p>
			{total > 0 && <progress value={done} max={total} aria-label="Days read" />}
		</div>
	);
}

/** The state of an endpoint. The model's name can be any text. */
export function EndpointText({ of: { host, model, state, text } }: { of: EndpointState }) {
	return (
		<span class={state === 'problem' ? 'problem' : undefined}>
			<bdi>{host}</bdi>, <bdi>{model}</bdi>: <bdi>{text}</bdi>
		</span>
	);
}

/** Reads a list from its first page up to the last displayed one. */
export async function readPages<Entry, Next, Part extends Page<Entry, Next>>(
	read: (next?: Next) => Promise<Part>,
	shown: Part | undefined,
): Promise<Part> {
	let found = await read();
	while (found.next !== undefined && found.entries.length < (shown?.entries.length ?? 0)) {
		const more = await read(found.next);
		found = { ...more, entries: [...found.entries, ...more.entries] };
	}
	return found;
}

/** Shows the loaded part of a list, and more on request. */
export function Pages<Entry, Next, Part extends Page<Entry, Next>>({
	of,
	read,
	children,
}: {
	of: Loaded<Part & Page<Entry, Next>>;
	read: (next?: Next) => Promise<Part & Page<Entry, Next>>;
	children: (entries: Entry[]) => ComponentChildren;
}) {
	const [problem, attempt] = useAttempt();
	return (
		<Load of={of}>
			{({ entries, next }) => (
				<>
					{children(entries)}
					{next !== undefined && (
						<button
							type="button"
							aria-keyshortcuts="m"
							onClick={() =>
								attempt(
									read(next).then((more) =>
										of.replace({ ...more, entries: [...entries, ...more.entries] }),
									),
								)
							}
						>
							Show more
						</button>
					)}
					<Problem text={problem} />
				</>
			)}
		</Load>
	);
}

/** An error, announced to screen readers immediately. */
export function Problem({ text }: { text: string }) {
	return (
		<p role="alert" class="problem">
			{text}
		</p>
	);
}

/** Shown for an unknown address. */
export function NotFound({ what = 'page', href = '/', to = 'calendar' }) {
	useTitle('Not found');
	return (
		<>
			<h1>Not found</h1>
			<p>
				This {what} doesn't exist. <Link href={href}>Go to the {to}</Link>
			</p>
		</>
	);
}

/** Focuses a field when it is shown. The attribute `autofocus` only works in a new document. */
export function useFocus<Field extends HTMLElement = HTMLInputElement>(isWanted = true) {
	const field = useRef<Field>(null);
	useEffect(() => {
		if (isWanted) field.current?.focus();
	}, []);
	return field;
}

/** The buttons of a dialog's form. */
export function Buttons({
	name,
	problem,
	isDanger = false,
	isDisabled = false,
	onCancel,
}: {
	name: string;
	problem: string;
	/** Whether it can't be undone. */
	isDanger?: boolean;
	isDisabled?: boolean;
	onCancel: () => void;
}) {
	return (
		<>
			<Problem text={problem} />
			<div class="buttons">
				<button type="submit" class={isDanger ? 'danger' : undefined} disabled={isDisabled}>
					{name}
				</button>
				<button type="button" class="plain" autofocus={isDanger} onClick={onCancel}>
					Cancel
				</button>
			</div>
		</>
	);
}

/** A dialog. It closes with Escape. */
export function Dialog({
	title,
	isBeside = false,
	onClose,
	children,
}: {
	title: string;
	/** Whether the page stays usable beside it. */
	isBeside?: boolean;
	onClose: () => void;
	children: ComponentChildren;
}) {
	const element = useRef<HTMLDialogElement>(null);
	// Before the next paint: otherwise a key could miss the dialog or the focus.
	useLayoutEffect(() => {
		const dialog = element.current!;
		const before = document.activeElement;
		if (isBeside) dialog.show();
		else dialog.showModal();
		const onKey = ({ key }: KeyboardEvent) => {
			if (isBeside && key === 'Escape' && !document.querySelector('dialog:modal')) onClose();
		};
		addEventListener('keydown', onKey);
		return () => {
			removeEventListener('keydown', onKey);
			// A user who has moved to the page keeps the focus there.
			const focused = document.activeElement ?? document.body;
			const isLost = dialog.contains(focused) || (!isBeside && focused.matches('body, #main'));
			dialog.close();
			if (!isLost) return;
			// A removed dialog doesn't restore the focus itself. The element that had it may be gone.
			queueMicrotask(() => {
				const hadFocus = before instanceof HTMLElement && before !== document.body;
				if (hadFocus && before.isConnected) before.focus();
				else document.getElementById('main')?.focus({ preventScroll: true });
			});
		};
	}, []);
	return (
		<dialog
			ref={element}
			class={isBeside ? 'beside' : undefined}
			aria-label={title}
			// Removing it also fires `close`.
			onClose={() => element.current && onClose()}
		>
			<h2>{title}</h2>
			{children}
		</dialog>
	);
}

/** Asks for confirmation. */
export function Confirm({
	title,
	text,
	name,
	carryOut,
	onDone,
	onClose,
}: {
	title: string;
	text: ComponentChildren;
	name: string;
	carryOut: () => Promise<unknown>;
	onDone: () => void;
	onClose: () => void;
}) {
	const [problem, attempt] = useAttempt();
	return (
		<Dialog title={title} onClose={onClose}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					attempt(carryOut().then(onDone));
				}}
			>
				<p>{text}</p>
				<Buttons problem={problem} name={name} isDanger onCancel={onClose} />
			</form>
		</Dialog>
	);
}

/** A menu of actions. It closes with a choice, Escape, or a click outside. */
export function Menu({
	name,
	shortcut,
	class: kind = 'menu',
	children,
}: {
	name: ComponentChildren;
	shortcut: string;
	class?: string;
	children: ComponentChildren;
}) {
	const element = useRef<HTMLDetailsElement>(null);
	const close = () => {
		element.current!.open = false;
		element.current!.querySelector('summary')!.focus();
	};
	useLayoutEffect(() => {
		const menu = element.current!;
		const onPointer = ({ target }: Event) => {
			if (!menu.contains(target as Node)) menu.open = false;
		};
		const onKey = ({ key }: KeyboardEvent) => {
			if (key === 'Escape' && menu.open && !document.querySelector('dialog:modal')) close();
		};
		addEventListener('pointerdown', onPointer);
		addEventListener('keydown', onKey);
		return () => {
			removeEventListener('pointerdown', onPointer);
			removeEventListener('keydown', onKey);
		};
	}, []);
	return (
		<details ref={element} class={kind}>
			<summary aria-keyshortcuts={shortcut}>{name}</summary>
			<ul onClick={close}>{children}</ul>
		</details>
	);
}

/** Accepts dropped files, or files chosen with its button. */
export function FileDrop({
	label,
	text,
	name,
	shortcut,
	accept,
	multiple = false,
	onFiles,
	children,
}: {
	/** Label for screen readers. */
	label: string;
	/** Text before the button, about files that can be dropped. */
	text: string;
	/** Label of the button. */
	name: string;
	shortcut: string;
	accept: string;
	multiple?: boolean;
	onFiles: (files: File[]) => void;
	children?: ComponentChildren;
}) {
	const input = useRef<HTMLInputElement>(null);
	const [isOver, setIsOver] = useState(false);
	const [problem, setProblem] = useState('');
	const take = (files: File[], hasFolder = false) => {
		const isOne = multiple || files.length < 2;
		setProblem(hasFolder ? FOLDER : isOne ? '' : 'Only one file can be uploaded at a time.');
		if (!hasFolder && isOne) onFiles(files);
	};
	return (
		<section
			class={isOver ? 'upload over' : 'upload'}
			aria-label={label}
			onDragOver={(event) => {
				event.preventDefault();
				setIsOver(true);
			}}
			onDragLeave={() => setIsOver(false)}
			onDrop={(event) => {
				event.preventDefault();
				setIsOver(false);
				const { files = [], items = [] } = event.dataTransfer ?? {};
				// The browser can't read a folder as a file.
				const hasFolder = [...items].some((item) => item.webkitGetAsEntry()?.isDirectory);
				take([...files], hasFolder);
			}}
		>
			<p>{text}</p>
			<button type="button" aria-keyshortcuts={shortcut} onClick={() => input.current?.click()}>
				{name}
			</button>
			<input
				ref={input}
				hidden
				type="file"
				{...{ multiple, accept }}
				onChange={({ currentTarget }) => {
					take([...(currentTarget.files ?? [])]);
					currentTarget.value = '';
				}}
			/>
			<Problem text={problem} />
			{children}
		</section>
	);
}

const FOLDER = "A folder can't be uploaded. Drop files.";

/** Whether a key was pressed in a field that uses it. */
export function isTyping({ target }: Event): boolean {
	return (
		target instanceof Element &&
		target.matches('input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]')
	);
}

/** A star as an indicator, not a button. */
export function Star() {
	return (
		<span class="star" role="img" aria-label="Starred">
			★
		</span>
	);
}
