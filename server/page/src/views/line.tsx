import type { ComponentChildren } from 'preact';
import { Icon } from '../icons.tsx';
import type { Line } from '../lines.mts';
import { timeInWords } from '../format.mts';
import type { Seek } from '../player.tsx';

/** A heading or an utterance. */
export function LineView({
	line,
	index,
	timezone,
	before,
	voice,
	shown,
	isCurrent,
	form,
	below,
	onName,
	onEdit,
	onSeek,
}: {
	line: Line;
	index: number;
	timezone: string;
	/** Time of the previous line, Unix ms. */
	before?: number;
	/** Number of the speaker; missing if unknown. */
	voice?: number;
	/** Display names. */
	shown: Map<string, string>;
	isCurrent: boolean;
	/** The form that edits it, instead of the text. */
	form: ComponentChildren;
	/** Content below it. */
	below: ComponentChildren;
	onName: ((speaker: string | null) => void) | undefined;
	onEdit: ((index: number) => void) | undefined;
	onSeek: ((seek: Seek) => void) | undefined;
}) {
	if (line.type === 'heading') {
		return (
			<h2 class={line.level > 2 ? 'part minor' : 'part'}>
				<bdi>{line.text}</bdi>
			</h2>
		);
	}
	const { text, speaker, isNewSpeaker, startMs, startOffsetMs } = line;
	const canEdit = onEdit !== undefined && startOffsetMs !== undefined;
	const play = onSeek && startMs !== undefined && (() => onSeek({ ms: startMs, isPlayed: true }));
	// Not for all lines at once: formatting ten thousand times is slow.
	const time = startMs !== undefined ? timeInWords(startMs, timezone) : undefined;
	const isRepeated = before !== undefined && timeInWords(before, timezone) === time;
	const ofTime = isRepeated ? 'time repeated' : 'time';
	return (
		<div class={isNewSpeaker ? 'line turn' : 'line'} data-line={index}>
			{isNewSpeaker && (
				<p class="speaker">
					<Speaker speaker={speaker} shown={shown} onName={onName} />
				</p>
			)}
			{time &&
				(play ? (
					<button
						type="button"
						class={ofTime}
						tabIndex={-1}
						aria-label={`Play from ${time}: ${text.slice(0, MAX_NAME)}`}
						onClick={play}
					>
						{time}
					</button>
				) : (
					<span class={ofTime}>{time}</span>
				))}
			{/* Its button is the time: text in a button can't be selected. */}
			{form || (
				<p
					class={`said voice-${voice ?? 'unknown'}${play ? ' playable' : ''}`}
					aria-current={isCurrent ? 'true' : undefined}
					onClick={() => play && getSelection()?.isCollapsed && play()}
				>
					<bdi>{text}</bdi>
				</p>
			)}
			{canEdit && !form && (
				<button
					type="button"
					class="edit-line plain"
					tabIndex={-1}
					aria-label={time ? `Edit the line at ${time}` : 'Edit the line'}
					title="Edit (i)"
					onClick={() => onEdit(index)}
				>
					<Icon name="pen" />
				</button>
			)}
			{below}
		</div>
	);
}

/** The speaker; with `onName`, a button. */
function Speaker({
	speaker,
	shown,
	onName,
}: {
	speaker: string | null;
	shown: Map<string, string>;
	onName: ((speaker: string | null) => void) | undefined;
}) {
	const name = <bdi>{speaker === null ? 'Unknown' : shown.get(speaker)}</bdi>;
	if (!onName) return name;
	return (
		<button
			type="button"
			class="plain"
			tabIndex={-1}
			title="Name this speaker"
			onClick={({ currentTarget }) => {
				onName(speaker);
				// Keep the line visible beside the form.
				requestAnimationFrame(() => currentTarget.scrollIntoView({ block: 'nearest' }));
			}}
		>
			{name}
		</button>
	);
}

/** Maximum length of a line in its label; enough to identify it. */
const MAX_NAME = 60;

/** Number of distinct speaker colors. */
const VOICES = 6;

/** The speaker's number, and the time of the previous line, for each line. */
export function detailsOf(lines: Line[]) {
	const voices = new Map<string, number>();
	let before: number | undefined;
	return lines.map((line) => {
		if (line.type === 'heading') return {};
		const { speaker, startMs } = line;
		if (speaker !== null && !voices.has(speaker)) voices.set(speaker, voices.size % VOICES);
		const details = { voice: speaker === null ? undefined : voices.get(speaker), before };
		before = startMs ?? before;
		return details;
	});
}
