import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Draft } from '../drafts.mts';
import type { Said } from '../lines.mts';
import { Problem } from '../parts.tsx';
import type { Editing } from '../useEditing.mts';
import { KnownNames, useKnownPeople } from './personParts.tsx';

export function EditLine({
	index,
	line,
	draft,
	shown,
	editing,
}: {
	index: number;
	line: Said;
	draft: Draft;
	shown: Map<string, string>;
	editing: Editing;
}) {
	const [isSaving, setSaving] = useState(false);
	const field = useRef<HTMLTextAreaElement>(null);
	const names = useId();
	const people = useKnownPeople();
	const { lost } = editing;
	useLayoutEffect(() => {
		const { activeElement } = document;
		if (!activeElement?.matches('input, select, textarea')) {
			field.current!.setSelectionRange(draft.text.length, draft.text.length);
			field.current!.focus({ preventScroll: true });
			// Scroll the buttons into view, too.
			if (lost.current !== index) field.current!.form!.scrollIntoView({ block: 'nearest' });
		}
		if (lost.current === index) lost.current = undefined;
		const { form } = field.current!;
		return () => {
			if (form!.contains(document.activeElement)) lost.current = index;
		};
	}, []);
	useLayoutEffect(() => {
		if (draft.problem) field.current!.form!.scrollIntoView({ block: 'nearest' });
	}, [draft.problem]);
	const attempt = (running: Promise<void>) => {
		setSaving(true);
		void running.finally(() => setSaving(false));
	};
	return (
		<form
			class="line-form"
			aria-label="Edit line"
			onSubmit={(event) => {
				event.preventDefault();
				if (!isSaving) attempt(editing.save(index));
			}}
			onKeyDown={(event) => {
				if (event.key !== 'Escape') return;
				event.stopPropagation();
				editing.close(index);
			}}
		>
			<textarea
				ref={field}
				aria-label="Text"
				dir="auto"
				required
				rows={Math.min(12, Math.ceil(draft.text.length / 50))}
				value={draft.text}
				onInput={({ currentTarget: { value } }) => editing.type(index, { text: value })}
				onKeyDown={(event) => {
					// Line breaks aren't allowed. Enter may also confirm an input method's text.
					if (event.key !== 'Enter' || event.isComposing) return;
					event.preventDefault();
					event.currentTarget.form!.requestSubmit();
				}}
			/>
			<label>
				Speaker{' '}
				<input
					list={names}
					value={draft.speaker ?? (line.speaker === null ? '' : shown.get(line.speaker))}
					placeholder="Unknown"
					maxLength={200}
					dir="auto"
					autocomplete="off"
					required={line.speaker !== null}
					onFocus={({ currentTarget }) => currentTarget.select()}
					onInput={({ currentTarget: { value } }) => editing.type(index, { speaker: value })}
				/>
			</label>
			<KnownNames id={names} names={[...shown.values(), ...people.map(({ name }) => name)]} />
			<Problem text={draft.problem ?? ''} />
			{draft.now !== undefined && (
				<p>
					<bdi>{draft.now}</bdi>
				</p>
			)}
			<div class="buttons">
				<button type="submit" disabled={isSaving}>
					Save
				</button>
				<button type="button" class="plain" onClick={() => editing.close(index)}>
					Cancel
				</button>
				<button
					type="button"
					class="plain as-recorded"
					disabled={isSaving}
					onClick={() => attempt(editing.restore(index))}
				>
					As recorded
				</button>
			</div>
		</form>
	);
}
