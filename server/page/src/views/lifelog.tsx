import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { WindowVirtualizer, type CacheSnapshot, type WindowVirtualizerHandle } from 'virtua';
import { Link, useLocation, useSearch } from 'wouter-preact';
import type { Lifelog } from '../../../../lifelog/api.ts';
import {
	audioAddress,
	changeLifelog,
	deleteLifelog,
	readAudioSpans,
	readLifelog,
	writeTitle,
	type AudioSpan,
	type Change,
	type Session,
} from '../api.mts';
import { dayInWords, dayOf, lengthInWords, timeInWords } from '../format.mts';
import { lineAt, linesOf, type Line } from '../lines.mts';
import {
	Buttons,
	Dialog,
	isWide,
	Load,
	Menu,
	NotFound,
	Problem,
	Star,
	useTitle,
} from '../parts.tsx';
import { Player, type Seek } from '../player.tsx';
import { useAttempt } from '../useAttempt.mts';
import { isReturning } from '../useArrival.mts';
import { forgetLoaded, useKept, useLoad, type Loaded } from '../useLoad.mts';

/** A lifelog: its transcript, and its audio if there is any. */
export function LifelogView({ id, session }: { id: string; session: Session }) {
	const loaded = useLoad(`lifelog ${id}`, () => readLifelog(id, session.timezone));
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
	const list = useRef<WindowVirtualizerHandle>(null);
	const [current, setCurrent] = useState(-1);
	const [seek, setSeek] = useState<Seek>();
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
			<Head
				lifelog={lifelog}
				session={session}
				hasAudio={spans && hasAudio}
				onChanged={onChanged}
			/>
			{audio.error && <Load of={audio}>{() => null}</Load>}
			<div class="columns">
				<Contents lines={lines} onChosen={(index) => list.current?.scrollToIndex(index)} />
				<div class="transcript">
					{lines.length === 0 && <p class="quiet">This lifelog has no transcript.</p>}
					<WindowVirtualizer ref={list} ssrCount={0} data={lines} cache={heights}>
						{(line, index) => (
							<LineView
								key={index}
								line={line}
								index={index}
								{...details[index]}
								timezone={session.timezone}
								isCurrent={index === current}
								onSeek={hasAudio ? setSeek : undefined}
							/>
						)}
					</WindowVirtualizer>
				</div>
			</div>
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
	isCurrent,
	onSeek,
}: {
	line: Line;
	index: number;
	timezone: string;
	/** When the line before was said, Unix ms. */
	before?: number;
	/** The number of the speaker; missing if nobody knows who it was. */
	voice?: number;
	isCurrent: boolean;
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
	// Only of the lines that are shown: writing ten thousand times takes longer than all else.
	const time = startMs !== undefined ? timeInWords(startMs, timezone) : undefined;
	const isRepeated = before !== undefined && timeInWords(before, timezone) === time;
	const ofTime = isRepeated ? 'time repeated' : 'time';
	return (
		<div class={isNewSpeaker ? 'line turn' : 'line'} data-line={index}>
			{isNewSpeaker && (
				<p class="speaker">
					<bdi>{speaker ?? 'Unknown'}</bdi>
				</p>
			)}
			{time &&
				(play ? (
					<button type="button" class={ofTime} aria-label={`Play from ${time}`} onClick={play}>
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

function Head({
	lifelog,
	session,
	hasAudio,
	onChanged,
}: {
	lifelog: Lifelog;
	session: Session;
	/** Undefined until it's known. */
	hasAudio: boolean | undefined;
	onChanged: () => void;
}) {
	const { timezone } = session;
	const { title, startTime, endTime, isStarred } = lifelog;
	const day = dayOf(startTime, timezone);
	return (
		<div class="head">
			<h1>
				<bdi>{title || 'Untitled'}</bdi> {isStarred && <Star />}
			</h1>
			<p class="quiet">
				<Link href={`/days/${day}`}>
					<time dateTime={day}>{dayInWords(day)}</time>
				</Link>
				, <time dateTime={startTime}>{timeInWords(startTime, timezone)}</time> to{' '}
				<time dateTime={endTime}>{timeInWords(endTime, timezone)}</time>,{' '}
				{lengthInWords(Date.parse(endTime) - Date.parse(startTime))}
				{hasAudio === false && ', no audio'}
			</p>
			<div class="actions">
				<Downloads lifelog={lifelog} timezone={timezone} hasAudio={hasAudio === true} />
				{session.canChange && <Changes lifelog={lifelog} onChanged={onChanged} />}
				{session.canTitle && isMadeHere(lifelog.id) && (
					<WriteTitle id={lifelog.id} onChanged={onChanged} />
				)}
				{session.canDelete && <Delete lifelog={lifelog} day={day} />}
			</div>
		</div>
	);
}

const FORMATS = [
	['markdown', 'Markdown'],
	['json', 'JSON'],
	['srt', 'SRT subtitles'],
	['vtt', 'WebVTT subtitles'],
] as const;

function Downloads({
	lifelog,
	timezone,
	hasAudio,
}: {
	lifelog: Lifelog;
	timezone: string;
	hasAudio: boolean;
}) {
	const [problem, attempt] = useAttempt();
	const save = async (format: (typeof FORMATS)[number][0]) => {
		const { writeLifelog } = await import('../../../../lifelog/files/formats.ts');
		const { entryPath } = await import('../../../../lifelog/names.ts');
		const file = writeLifelog(lifelog, format, timezone)!;
		// A name for a download is no place in an archive, and needs no hash.
		const place = entryPath('lifelogs', lifelog.id, file.startMs, () => '');
		const link = document.createElement('a');
		link.href = URL.createObjectURL(new Blob([file.content], { type: file.mimeType }));
		link.download = place.split('/').at(-1)! + file.extension;
		link.click();
		// Some browsers read it only when somebody has chosen where to save it.
		setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
	};
	return (
		<>
			<Menu name="Download" shortcut="d">
				{FORMATS.map(([format, name], at) => (
					<li key={format}>
						<button
							type="button"
							class="plain"
							aria-keyshortcuts={String(at + 1)}
							onClick={() => attempt(save(format))}
						>
							{name}
						</button>
					</li>
				))}
				{hasAudio && (
					<li>
						<a
							href={audioAddress(lifelog.id)}
							download={`${lifelog.id}.ogg`}
							aria-keyshortcuts={String(FORMATS.length + 1)}
						>
							Audio
						</a>
					</li>
				)}
			</Menu>
			<Problem text={problem} />
		</>
	);
}

function Changes({ lifelog, onChanged }: { lifelog: Lifelog; onChanged: () => void }) {
	const [open, setOpen] = useState<'title' | 'speakers'>();
	const [problem, attempt] = useAttempt();
	const change = (wanted: Change) =>
		attempt(
			changeLifelog(lifelog.id, wanted).then(() => {
				setOpen(undefined);
				onChanged();
			}),
		);
	const rename = (names: [before: string, after: string][]) => {
		const changed = names.filter(([before, after]) => before !== after);
		if (changed.length === 0) setOpen(undefined);
		else change({ speakers: Object.fromEntries(changed) });
	};
	const speakers = [
		...new Set(
			linesOf(lifelog).flatMap((line) =>
				line.type === 'said' && line.speaker !== null ? [line.speaker] : [],
			),
		),
	];
	return (
		<>
			<button
				type="button"
				aria-pressed={lifelog.isStarred}
				aria-keyshortcuts="*"
				onClick={() => change({ isStarred: !lifelog.isStarred })}
			>
				{lifelog.isStarred ? '★ Starred' : '☆ Star'}
			</button>
			<button type="button" aria-keyshortcuts="e" onClick={() => setOpen('title')}>
				Rename
			</button>
			{speakers.length > 0 && (
				<button type="button" aria-keyshortcuts="n" onClick={() => setOpen('speakers')}>
					Speakers
				</button>
			)}
			{!open && <Problem text={problem} />}
			{open && (
				<Dialog
					title={open === 'title' ? 'Rename' : 'Name the speakers'}
					onClose={() => setOpen(undefined)}
				>
					<form
						onSubmit={(event) => {
							event.preventDefault();
							const form = new FormData(event.currentTarget);
							if (open === 'title') change({ title: form.get('title') as string });
							else rename(speakers.map((name, at) => [name, form.get(String(at)) as string]));
						}}
					>
						{open === 'title' ? (
							<label>
								Title <input name="title" defaultValue={lifelog.title ?? ''} required autofocus />
							</label>
						) : (
							speakers.map((name, at) => (
								<label key={name}>
									<bdi>{name}</bdi> <input name={String(at)} defaultValue={name} required />
								</label>
							))
						)}
						<Buttons problem={problem} name="Save" onCancel={() => setOpen(undefined)} />
					</form>
				</Dialog>
			)}
		</>
	);
}

/** Whether the server has made a lifelog of a recording or a transcript. */
const isMadeHere = (id: string) => /^(made|recorded)-/.test(id);

function WriteTitle({ id, onChanged }: { id: string; onChanged: () => void }) {
	const [isWriting, setWriting] = useState(false);
	const [problem, attempt] = useAttempt();
	return (
		<>
			<button
				type="button"
				aria-keyshortcuts="w"
				disabled={isWriting}
				onClick={() => {
					setWriting(true);
					const writing = writeTitle(id).then(onChanged);
					attempt(writing.finally(() => setWriting(false)));
				}}
			>
				{isWriting ? 'Writing…' : 'Write title and headings'}
			</button>
			<Problem text={problem} />
		</>
	);
}

function Delete({ lifelog, day }: { lifelog: Lifelog; day: string }) {
	const [isOpen, setOpen] = useState(false);
	const [typed, setTyped] = useState('');
	const [problem, attempt] = useAttempt();
	const [, navigate] = useLocation();
	const title = lifelog.title || 'Untitled';
	return (
		<>
			<button type="button" class="danger" aria-keyshortcuts="Delete" onClick={() => setOpen(true)}>
				Delete
			</button>
			{isOpen && (
				<Dialog title="Delete this lifelog" onClose={() => setOpen(false)}>
					<form
						onSubmit={(event) => {
							event.preventDefault();
							attempt(
								deleteLifelog(lifelog.id).then(() => {
									forgetLoaded();
									navigate(`/days/${day}`, { replace: true });
								}),
							);
						}}
					>
						<p>
							A deleted lifelog can't be restored. To delete this one, type its title:{' '}
							<strong>
								<bdi>{title}</bdi>
							</strong>
						</p>
						<label>
							Title{' '}
							<input
								value={typed}
								autofocus
								onInput={(event) => setTyped(event.currentTarget.value)}
							/>
						</label>
						<Buttons
							problem={problem}
							name="Delete"
							isDanger
							isDisabled={oneSpaced(typed) !== oneSpaced(title)}
							onCancel={() => setOpen(false)}
						/>
					</form>
				</Dialog>
			)}
		</>
	);
}

/** A text as a browser shows it, and as people can type it. */
const oneSpaced = (text: string) => text.trim().replaceAll(/\s+/g, ' ');
