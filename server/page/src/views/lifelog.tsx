import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { WindowVirtualizer, type CacheSnapshot, type WindowVirtualizerHandle } from 'virtua';
import { useSearch } from 'wouter-preact';
import type { Lifelog } from '../../../../lifelog/api.ts';
import { namesIn } from '../../../../lifelog/contents.ts';
import { shownNames } from '../../../../lifelog/speakers.ts';
import { readAudioSpans, readLifelog, type AudioSpan, type Session } from '../api.mts';
import { timeInWords } from '../format.mts';
import { lineAt, linesOf, type Line } from '../lines.mts';
import { isWide, Load, NotFound, useTitle } from '../parts.tsx';
import { Player, type Seek } from '../player.tsx';
import { isReturning } from '../useArrival.mts';
import { useKept, useLoad, type Loaded } from '../useLoad.mts';
import { useTranscriptKeys } from '../useTranscriptKeys.mts';
import { LifelogNeighbors } from './lifelogNeighbors.tsx';
import { Head } from './lifelogHead.tsx';
import { Naming, speakersOf } from './naming.tsx';

/** A lifelog: its transcript, and its audio if there is any. */
export function LifelogView({ id, session }: { id: string; session: Session }) {
	const loaded = useLoad(`lifelog ${id}`, () => readLifelog(id));
	// On its own, because the text can be read without it.
	const audio = useLoad(`audio of ${id}`, () => readAudioSpans(id));
	useTitle(loaded.value?.title || 'Lifelog');
	return (
		<Load of={loaded} notFound={<NotFound what="lifelog" />}>
			{(lifelog) => (
				<Conversation lifelog={lifelog} audio={audio} session={session} onChanged={loaded.reload} />
			)}
		</Load>
	);
}

function Conversation({
	lifelog,
	audio,
	session,
	onChanged,
}: {
	lifelog: Lifelog;
	audio: Loaded<AudioSpan[]>;
	session: Session;
	onChanged: () => void;
}) {
	const spans = audio.value;
	const hasAudio = spans !== undefined && spans.length > 0;
	const lines = useMemo(() => linesOf(lifelog), [lifelog]);
	const details = useMemo(() => detailsOf(lines), [lines]);
	const shown = useMemo(() => shownNames(namesIn(lifelog.contents)), [lifelog]);
	const transcript = useRef<HTMLDivElement>(null);
	useTranscriptKeys(transcript);
	const list = useRef<WindowVirtualizerHandle>(null);
	const [current, setCurrent] = useState(-1);
	const [seek, setSeek] = useState<Seek>();
	const [naming, setNaming] = useState<{ speaker: string | null }>();
	const speakers = useMemo(() => speakersOf(lines), [lines]);
	const name = (speaker: string | null) => setNaming({ speaker });
	const onName = session.canChange ? name : undefined;
	const [heights, setHeights] = useKept<CacheSnapshot | undefined>(
		`lines of ${lifelog.id}`,
		undefined,
	);
	const at = Number(new URLSearchParams(useSearch()).get('at') ?? NaN);

	// The page opens at the line that a search found.
	useEffect(() => {
		const index = Number.isNaN(at) ? -1 : lineAt(lines, at);
		const line = lines[index];
		if (line?.type !== 'said') return;
		setCurrent(index);
		if (line.startMs !== undefined) setSeek({ ms: line.startMs, isPlayed: false });
		if (!isReturning()) list.current?.scrollToIndex(index, { align: 'center' });
	}, []);
	useEffect(() => {
		// The ref is already empty when the view is left.
		const shown = list.current;
		return () => setHeights(shown?.cache);
	}, []);

	const follow = (ms: number) => {
		const index = lineAt(lines, ms);
		if (index === current) return;
		setCurrent(index);
		// Whoever has scrolled away from what plays is reading there.
		const isFollowed = current < 0 || isSeen(current);
		if (index >= 0 && isFollowed && !isInView(index)) {
			list.current?.scrollToIndex(index, { align: 'center' });
		}
	};

	return (
		<article class={hasAudio ? 'lifelog with-player' : 'lifelog'}>
			<LifelogNeighbors id={lifelog.id} />
			<Head
				lifelog={lifelog}
				session={session}
				hasAudio={spans && hasAudio}
				onName={speakers.length > 0 ? () => name(speakers[0]!) : undefined}
				onChanged={onChanged}
			/>
			{audio.error && <Load of={audio}>{() => null}</Load>}
			<div class="columns">
				<Contents lines={lines} onChosen={(index) => list.current?.scrollToIndex(index)} />
				<div
					ref={transcript}
					class="transcript"
					role="group"
					tabIndex={0}
					aria-label="Transcript"
					aria-keyshortcuts="ArrowUp ArrowDown"
				>
					{lines.length === 0 && <p class="quiet">This lifelog has no transcript.</p>}
					<WindowVirtualizer ref={list} ssrCount={0} data={lines} cache={heights}>
						{(line, index) => (
							<LineView
								key={index}
								line={line}
								index={index}
								{...details[index]}
								shown={shown}
								onName={onName}
								timezone={session.timezone}
								isCurrent={index === current}
								onSeek={hasAudio ? setSeek : undefined}
							/>
						)}
					</WindowVirtualizer>
				</div>
			</div>
			{naming && (
				<Naming
					id={lifelog.id}
					lines={lines}
					speakers={speakers}
					speaker={naming.speaker}
					shown={shown}
					spans={spans ?? []}
					onSeek={setSeek}
					onChoose={name}
					onChanged={onChanged}
					onClose={() => setNaming(undefined)}
				/>
			)}
			{hasAudio && (
				<Player lifelog={lifelog} spans={spans} lines={lines} seek={seek} onTime={follow} />
			)}
		</article>
	);
}

/** Where a line is in the window; undefined if it's far away. */
const boxOf = (index: number) =>
	document.querySelector(`[data-line="${index}"]`)?.getBoundingClientRect();

/** Whether something of a line can be seen. */
function isSeen(index: number): boolean {
	const box = boxOf(index);
	return box !== undefined && box.bottom > 0 && box.top < innerHeight;
}

/** Whether all of a line can be seen above the player. */
function isInView(index: number): boolean {
	const box = boxOf(index);
	return box !== undefined && box.top > 80 && box.bottom < innerHeight - 120;
}

function LineView({
	line,
	index,
	timezone,
	before,
	voice,
	shown,
	isCurrent,
	onName,
	onSeek,
}: {
	line: Line;
	index: number;
	timezone: string;
	/** When the line before was said, Unix ms. */
	before?: number;
	/** The number of the speaker; missing if nobody knows who it was. */
	voice?: number;
	/** How names are written. */
	shown: Map<string, string>;
	isCurrent: boolean;
	onName: ((speaker: string | null) => void) | undefined;
	onSeek: ((seek: Seek) => void) | undefined;
}) {
	if (line.type === 'heading') {
		return (
			<h2 class={line.level > 2 ? 'part minor' : 'part'}>
				<bdi>{line.text}</bdi>
			</h2>
		);
	}
	const { text, speaker, isNewSpeaker, startMs } = line;
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
			<p
				class={`said voice-${voice ?? 'unknown'}${play ? ' playable' : ''}`}
				aria-current={isCurrent ? 'true' : undefined}
				onClick={() => play && getSelection()?.isCollapsed && play()}
			>
				<bdi>{text}</bdi>
			</p>
		</div>
	);
}

/** Who speaks; with `onName`, a button. */
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
				// What it's about stays in sight beside the field.
				requestAnimationFrame(() => currentTarget.scrollIntoView({ block: 'nearest' }));
			}}
		>
			{name}
		</button>
	);
}

/** Of a line, as much as tells it apart. */
const MAX_NAME = 60;

/** As many speakers are told apart by their color. */
const VOICES = 6;

/** The speaker's number of each line, and when the one before was said. */
function detailsOf(lines: Line[]) {
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

function Contents({ lines, onChosen }: { lines: Line[]; onChosen: (index: number) => void }) {
	const [isOpen] = useState(isWide);
	const headings = lines.flatMap((line, index) =>
		line.type === 'heading' && line.level === 2 ? [{ text: line.text, index }] : [],
	);
	if (headings.length === 0) return null;
	return (
		<nav class="contents" aria-label="Contents">
			<details open={isOpen}>
				<summary aria-keyshortcuts="t">Contents</summary>
				<ol>
					{headings.map(({ text, index }) => (
						<li key={index}>
							<button
								type="button"
								class="plain"
								onClick={({ detail, currentTarget }) => {
									// A space is to play after a click, but not after keys.
									if (detail > 0) currentTarget.blur();
									onChosen(index);
								}}
							>
								<bdi>{text}</bdi>
							</button>
						</li>
					))}
				</ol>
			</details>
		</nav>
	);
}
