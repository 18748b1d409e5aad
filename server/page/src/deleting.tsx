import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readAudioFiles, type Session } from './api.mts';
import {
	carryOut,
	deleteSoon,
	keep,
	useDeletions,
	type Deletable,
	type Deletion,
} from './deletions.mts';
import { count } from './format.mts';
import { isForPage } from './keys.tsx';
import { Buttons, Dialog } from './parts.tsx';
import { useLoad } from './useLoad.mts';

const FEW_FILES = 3;

/** Asks for confirmation, and says what is kept. */
export function ConfirmDelete({
	lifelogs,
	onConfirmed,
	onClose,
}: {
	lifelogs: Deletable[];
	onConfirmed: () => void;
	onClose: () => void;
}) {
	const [only] = lifelogs.length === 1 ? lifelogs : [];
	return (
		<Dialog
			title={only ? 'Delete this lifelog' : `Delete ${count(lifelogs.length, 'lifelog')}`}
			onClose={onClose}
		>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					deleteSoon(lifelogs);
					onConfirmed();
				}}
			>
				{only ? (
					<p>
						<strong>
							<bdi>{only.title || 'Untitled'}</bdi>
						</strong>{' '}
						is deleted from the archive, with all that was said in it.
					</p>
				) : (
					<p>They are deleted from the archive, with all that was said in them.</p>
				)}
				{only ? (
					<AudioOf id={only.id} />
				) : (
					<p>
						{AUDIO_STAYS} They're in the archive's folder <code>audio</code>.
					</p>
				)}
				<p>For 10 seconds you can undo it. Then it's final.</p>
				<Buttons problem="" name="Delete" isDanger onCancel={onClose} />
			</form>
		</Dialog>
	);
}

const AUDIO_STAYS = 'Audio files stay, if there are any, because they can contain other lifelogs.';

/** Names the files that keep the audio of a lifelog. */
function AudioOf({ id }: { id: string }) {
	const { value } = useLoad(`audio files of ${id}`, () => readAudioFiles(id));
	if (value?.length === 0) return <p>It has no audio.</p>;
	return (
		<>
			<p>
				{AUDIO_STAYS}
				{value && ' In the archive, its audio is in:'}
			</p>
			{value && (
				<ul>
					{value.slice(0, FEW_FILES).map((path) => (
						<li key={path}>
							<bdi>
								<code>{path}</code>
							</bdi>
						</li>
					))}
					{value.length > FEW_FILES && <li>{count(value.length - FEW_FILES, 'more file')}</li>}
				</ul>
			)}
		</>
	);
}

/** Deletions in progress, with buttons to undo them. */
export function Deletions() {
	const deletions = useDeletions();
	return (
		<div class="deletions" aria-live="polite">
			{deletions.map((deletion, nth) => (
				<Line
					key={deletion.lifelogs[0].id}
					deletion={deletion}
					isNewest={nth === deletions.length - 1}
				/>
			))}
		</div>
	);
}

function Line({ deletion, isNewest }: { deletion: Deletion; isNewest: boolean }) {
	const { lifelogs, state, secondsLeft, done, problem } = deletion;
	const only = lifelogs.length === 1 && (lifelogs[0].title || 'Untitled');
	const what = only ? <bdi>“{only}”</bdi> : count(lifelogs.length, 'lifelog');
	const are = only ? 'is' : 'are';
	const left = lifelogs.length - done;
	const close = (name: string, shortcut: string) => (
		<button
			type="button"
			aria-keyshortcuts={isNewest ? shortcut : undefined}
			onClick={() => {
				keep(deletion);
				focusEntry(lifelogs[0]!);
			}}
		>
			{name}
		</button>
	);
	const texts: Record<Deletion['state'], ComponentChildren> = {
		waiting: (
			<>
				<span>
					{what} {are} about to be deleted.{' '}
					<span class="quiet" aria-hidden="true">
						{secondsLeft} s
					</span>
				</span>
				{close('Undo', 'z')}
			</>
		),
		deleting: (
			<span>
				{what} {are} being deleted
				{!only && <span aria-hidden="true">: {done} done</span>}.
			</span>
		),
		done: (
			<>
				<span>
					{what} {only ? 'was' : 'were'} deleted.
				</span>
				{close('Close', 'z')}
			</>
		),
		failed: (
			<>
				<span class="problem">
					{only ? (
						<>{what} wasn't deleted</>
					) : (
						`${left} of ${count(lifelogs.length, 'lifelog')} ${left === 1 ? "wasn't" : "weren't"} deleted`
					)}
					: <bdi>{problem}</bdi>
				</span>
				<button type="button" onClick={() => void carryOut(deletion)}>
					Try again
				</button>
				{close('Keep', 'z')}
			</>
		),
	};
	return <p class="notice">{texts[state]}</p>;
}

/** Focuses a restored lifelog in a list. */
function focusEntry({ id }: Deletable): void {
	requestAnimationFrame(() => {
		const entries = [...document.querySelectorAll<HTMLAnchorElement>('main a[data-entry]')];
		const entry = entries.find(
			({ pathname }) => pathname === `/lifelogs/${encodeURIComponent(id)}`,
		);
		if (entry) entry.focus();
		else document.getElementById('main')?.focus({ preventScroll: true });
	});
}

/** Selected entries of a list; undefined while selecting is off. */
export interface Selection {
	ids: Set<string> | undefined;
	set: (ids: Set<string> | undefined) => void;
}

export function useSelection(): Selection {
	const [ids, set] = useState<Set<string>>();
	return { ids, set };
}

export function SelectBox({
	of: { id, title },
	selection: { ids, set },
}: {
	of: Deletable;
	selection: Selection;
}) {
	if (!ids) return null;
	return (
		<input
			type="checkbox"
			data-entry
			aria-label={`Select ${title || 'Untitled'}`}
			checked={ids.has(id)}
			onChange={({ currentTarget: { checked } }) =>
				set(new Set(checked ? [...ids, id] : [...ids].filter((each) => each !== id)))
			}
		/>
	);
}

/** Starts selecting entries of a list, and deletes selected ones. */
export function SelectBar({
	lifelogs,
	all = lifelogs,
	selection: { ids, set },
	session,
}: {
	lifelogs: Deletable[];
	/** Those that *Select all* selects. */
	all?: Deletable[];
	selection: Selection;
	session: Session;
}) {
	const [isAsking, setAsking] = useState(false);
	const toggle = useRef<HTMLButtonElement>(null);
	// The focused element may be gone.
	const change = (to: Set<string> | undefined) => {
		set(to);
		toggle.current!.focus({ preventScroll: true });
	};
	useLayoutEffect(() => {
		if (!ids) return;
		const onKey = (event: KeyboardEvent) => {
			if (event.key === 'Escape' && isForPage(event)) change(undefined);
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, [ids]);
	if (!session.canDelete || lifelogs.length === 0) return null;
	const chosen = lifelogs.filter(({ id }) => ids?.has(id));
	return (
		<div
			class={ids ? 'selecting begun' : 'selecting'}
			role="group"
			aria-label={ids ? 'Selected lifelogs' : 'Select lifelogs'}
		>
			{ids && (
				<>
					<span aria-live="polite">{chosen.length} selected</span>
					<button
						type="button"
						aria-keyshortcuts="a"
						onClick={() => set(new Set(all.map(({ id }) => id)))}
					>
						Select all
					</button>
					<button
						type="button"
						class="danger"
						aria-keyshortcuts="Delete"
						disabled={chosen.length === 0}
						onClick={() => setAsking(true)}
					>
						Delete
					</button>
				</>
			)}
			<button
				ref={toggle}
				type="button"
				class={ids && 'plain'}
				aria-keyshortcuts="x"
				onClick={() => change(ids ? undefined : new Set())}
			>
				{ids ? 'Cancel' : 'Select'}
			</button>
			{isAsking && (
				<ConfirmDelete
					lifelogs={chosen}
					onConfirmed={() => {
						setAsking(false);
						set(undefined);
					}}
					onClose={() => setAsking(false)}
				/>
			)}
		</div>
	);
}
