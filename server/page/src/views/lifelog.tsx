import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { WindowVirtualizer, type CacheSnapshot, type WindowVirtualizerHandle } from 'virtua';
import { useSearch } from 'wouter-preact';
import type { Lifelog } from '../../../../lifelog/api.ts';
import { namesIn } from '../../../../lifelog/contents.ts';
import { shownNames } from '../../../../lifelog/speakers.ts';
import { readAudioSpans, readLifelog, type AudioSpan, type Session } from '../api.mts';
import { lineAt, linesOf, type Line } from '../lines.mts';
import { isWide, Load, NotFound, useTitle } from '../parts.tsx';
import { Player, type Seek } from '../player.tsx';
import { isReturning } from '../useArrival.mts';
import { useEditing } from '../useEditing.mts';
import { useEditKeys } from '../useEditKeys.mts';
import { useKept, useLoad, type Loaded } from '../useLoad.mts';
import { useTranscriptKeys } from '../useTranscriptKeys.mts';
import { useCorrecting } from './correcting.tsx';
import { EditLine } from './editLine.tsx';
import { LifelogNeighbors } from './lifelogNeighbors.tsx';
import { Head } from './lifelogHead.tsx';
import { detailsOf, LineView } from './line.tsx';
import { Naming, speakersOf } from './naming.tsx';

/** A lifelog: its transcript, and its audio if any. */
export function LifelogView({ id, session }: { id: string; session: Session }) {
	const loaded = useLoad(`lifelog ${id}`, () => readLifelog(id));
	// Separately, because the text is readable without it.
	const audio = useLoad(`audio of ${id}`, () => readAudioSpans(id));
	useTitle(loaded.value?.title || 'Lifelog');
	return (
		<Load of={loaded} notFound={<NotFound what="lifelog" />}>
			{(lifelog) => (
				<Conversation
					lifelog={lifelog}
					audio={audio}
					session={session}
					onChanged={loaded.reload}
					onLifelog={loaded.replace}
				/>
			)}
		</Load>
	);
}

function Conversation({
	lifelog,
	audio,
	session,
	onChanged,
	onLifelog,
}: {
	lifelog: Lifelog;
	audio: Loaded<AudioSpan[]>;
	session: Session;
	onChanged: () => void;
	/** Called with the lifelog after a change. */
	onLifelog: (lifelog: Lifelog) => void;
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
	const correcting = useCorrecting(session.timezone, onChanged);
	const editing = useEditing(lifelog.id, lines, shown, onLifelog, correcting.onCorrected);
	const onEdit = session.canChange ? editing.open : undefined;
	const formOf = (index: number, line: Line) => {
		const draft = editing.drafts.get(index);
		return (
			draft && line.type === 'said' && <EditLine {...{ index, line, draft, shown, editing }} />
		);
	};
	useEditKeys(editing, onEdit, current, list);
	const [heights, setHeights] = useKept<CacheSnapshot | undefined>(
		`lines of ${lifelog.id}`,
		undefined,
	);
	const at = Number(new URLSearchParams(useSearch()).get('at') ?? NaN);

	// Scroll to the line that a search found.
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
		// A user who has scrolled away from the playing line is reading there.
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
								form={formOf(index, line)}
								below={correcting.offerOf(index)}
								onEdit={onEdit}
								onSeek={hasAudio ? setSeek : undefined}
							/>
						)}
					</WindowVirtualizer>
				</div>
			</div>
			{correcting.dialog}
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

/** The position of a line in the window; undefined if it isn't rendered. */
const boxOf = (index: number) =>
	document.querySelector(`[data-line="${index}"]`)?.getBoundingClientRect();

/** Whether a line is at least partly visible. */
function isSeen(index: number): boolean {
	const box = boxOf(index);
	return box !== undefined && box.bottom > 0 && box.top < innerHeight;
}

/** Whether a line is fully visible above the player. */
function isInView(index: number): boolean {
	const box = boxOf(index);
	return box !== undefined && box.top > 80 && box.bottom < innerHeight - 120;
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
									// After a click, space should play; after keyboard use, the focus stays.
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
