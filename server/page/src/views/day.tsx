import { Fragment } from 'preact';
import { Link } from 'wouter-preact';
import { shownNames } from '../../../../lifelog/speakers.ts';
import { dayAddress, readDay, type Day, type DayEntry, type Session } from '../api.mts';
import { count, dayInWords, lengthInWords, timeInWords } from '../format.mts';
import { SelectBar, SelectBox, useSelection, type Selection } from '../deleting.tsx';
import { useKeptOf } from '../deletions.mts';
import { Load, Menu, Star, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';
import { Summary } from './daySummary.tsx';

/** With more entries, distant ones aren't laid out. */
const MANY = 200;
const MIN_GAP_MS = 15 * 60_000;

/** A day: a timeline of its lifelogs and their audio, and its summary. */
export function DayView({ day, session }: { day: string; session: Session }) {
	const name = dayInWords(day);
	useTitle(name);
	const loaded = useLoad(`day ${day}`, () => readDay(day));
	return (
		<>
			<h1>{name}</h1>
			<Load of={loaded}>
				{(found) => (
					<>
						<Neighbors {...found} />
						<Timeline {...found} session={session} />
						<Neighbors {...found} isRepeated />
					</>
				)}
			</Load>
		</>
	);
}

function Neighbors({ day, previous, next, isRepeated = false }: Day & { isRepeated?: boolean }) {
	const keys = isRepeated ? {} : { previous: 'ArrowLeft', next: 'ArrowRight' };
	return (
		<nav class="neighbors" aria-label={isRepeated ? 'More days' : 'Days'}>
			{previous ? (
				<Link href={`/days/${previous}`} aria-keyshortcuts={keys.previous}>
					← <time dateTime={previous}>{shortDay(previous, day)}</time>
				</Link>
			) : (
				<span />
			)}
			{next && (
				<Link href={`/days/${next}`} aria-keyshortcuts={keys.next}>
					<time dateTime={next}>{shortDay(next, day)}</time> →
				</Link>
			)}
		</nav>
	);
}

/** A short date, with the year only if it differs from the displayed day's. */
const shortDay = (day: string, shown: string) =>
	dayInWords(day, {
		...{ month: 'short', day: 'numeric' },
		year: day.slice(0, 4) === shown.slice(0, 4) ? undefined : 'numeric',
	});

function Timeline({ session, ...found }: Day & { session: Session }) {
	const lifelogs = useKeptOf(found.lifelogs);
	const day = { ...found, lifelogs };
	const { timezone, audio } = day;
	const selection = useSelection();
	if (lifelogs.length === 0 && audio.length === 0) {
		return <p class="quiet">This day has no lifelogs.</p>;
	}
	if (lifelogs.length === 0) {
		return (
			<>
				<p class="quiet">This day has audio, but no lifelogs.</p>
				<Bar {...day} />
			</>
		);
	}
	// Running maximum of the ends, because lifelogs can overlap.
	let reachedMs = -Infinity;
	const ends = lifelogs.map(
		({ endTime }) => (reachedMs = Math.max(reachedMs, Date.parse(endTime))),
	);
	const totalMs = lifelogs.reduce((sum, each) => sum + lengthOf(each), 0);
	const starred = lifelogs.filter(({ isStarred }) => isStarred).length;
	return (
		<>
			<p class="quiet">
				{[
					count(lifelogs.length, 'lifelog'),
					lengthInWords(totalMs),
					starred > 0 && `${starred} starred`,
					audio.length === 0 ? 'no audio' : 'with audio',
					timezone,
				]
					.filter(Boolean)
					.join(' · ')}
			</p>
			<Bar {...day} />
			<Downloads {...day} />
			<SelectBar lifelogs={lifelogs} selection={selection} session={session} />
			<Summary {...day} />
			<ol class={lifelogs.length > MANY ? 'timeline many' : 'timeline'}>
				{lifelogs.map((lifelog, at) => (
					<Fragment key={lifelog.id}>
						<Gap fromMs={ends[at - 1]} toMs={Date.parse(lifelog.startTime)} />
						<Entry
							lifelog={lifelog}
							timezone={timezone}
							lacksAudio={audio.length > 0 && !hasAudio(lifelog, audio)}
							selection={selection}
						/>
					</Fragment>
				))}
			</ol>
		</>
	);
}

/** The day as a zip with the files of `lifelog-server export`. */
function Downloads({ day, audio }: Day) {
	return (
		<div class="actions">
			<Menu name="Download" shortcut="d">
				<li>
					<a href={dayAddress(day)} download={`${day}.zip`} aria-keyshortcuts="1">
						Markdown (zip)
					</a>
				</li>
				{audio.length > 0 && (
					<li>
						<a href={dayAddress(day, true)} download={`${day}.zip`} aria-keyshortcuts="2">
							Markdown with audio (zip)
						</a>
					</li>
				)}
			</Menu>
		</div>
	);
}

/**
 * An overview of the day from midnight to midnight. Its content is also in the list, so its links
 * are only for mice.
 */
function Bar({ startMs, endMs, lifelogs, audio, timezone }: Day) {
	const width = endMs - startMs;
	const place = (fromMs: number, toMs: number) => {
		const from = Math.max(0, (fromMs - startMs) / width);
		const to = Math.min(1, (toMs - startMs) / width);
		return { x: 1000 * from, width: Math.max(1.5, 1000 * (to - from)) };
	};
	const quarters = [0, 1, 2, 3].map((nth) => startMs + (nth * width) / 4);
	return (
		<>
			<div class="bar" aria-hidden="true">
				<svg viewBox="0 0 1000 40" preserveAspectRatio="none">
					{audio.map((span) => (
						<rect
							key={span.startMs}
							class="heard"
							y="32"
							height="5"
							{...place(span.startMs, span.endMs)}
						/>
					))}
					{lifelogs.map(({ id, startTime, endTime, isStarred }) => (
						<Link key={id} href={`/lifelogs/${encodeURIComponent(id)}`} tabindex={-1}>
							<title>{timeInWords(startTime, timezone)}</title>
							<rect
								class={isStarred ? 'spoken starred' : 'spoken'}
								y="4"
								height="24"
								rx="2"
								{...place(Date.parse(startTime), Date.parse(endTime))}
							/>
						</Link>
					))}
				</svg>
				<div class="hours">
					{quarters.map((time) => (
						<span key={time}>{timeInWords(time, timezone)}</span>
					))}
				</div>
			</div>
			<ul class="legend" aria-hidden="true">
				{lifelogs.some(({ isStarred }) => !isStarred) && <li class="spoken">Lifelog</li>}
				{lifelogs.some(({ isStarred }) => isStarred) && <li class="starred">Starred</li>}
				{audio.length > 0 && <li class="heard">Audio</li>}
			</ul>
		</>
	);
}

function Entry({
	lifelog,
	timezone,
	lacksAudio,
	selection,
}: {
	lifelog: DayEntry;
	timezone: string;
	/** Whether it has no audio on a day with audio. */
	lacksAudio: boolean;
	selection: Selection;
}) {
	const { id, title, startTime, isStarred, speakers, headings } = lifelog;
	return (
		<li class="entry">
			<div class="when">
				<time dateTime={startTime}>{timeInWords(startTime, timezone)}</time>
				<span class="quiet">{lengthInWords(lengthOf(lifelog))}</span>
			</div>
			<div class="what">
				<h2>
					<SelectBox of={lifelog} selection={selection} />{' '}
					<Link
						href={`/lifelogs/${encodeURIComponent(id)}`}
						data-entry={!selection.ids || undefined}
					>
						<bdi>{title || 'Untitled'}</bdi>
					</Link>{' '}
					{isStarred && <Star />}
				</h2>
				<p class="quiet">
					{[...shownNames(speakers)].map(([name, shown], at) => (
						<Fragment key={name}>
							{at > 0 && ', '}
							<bdi>{shown}</bdi>
						</Fragment>
					))}
					{lacksAudio && (speakers.length > 0 ? ' · no audio' : 'no audio')}
				</p>
				{headings.length > 0 && (
					<ul class="headings">
						{headings.map((heading, at) => (
							<li key={at}>
								<bdi>{heading}</bdi>
							</li>
						))}
					</ul>
				)}
			</div>
		</li>
	);
}

function Gap({ fromMs = Infinity, toMs }: { fromMs: number | undefined; toMs: number }) {
	const ms = toMs - fromMs;
	if (ms < MIN_GAP_MS) return null;
	return <li class="gap quiet">{lengthInWords(ms)} without a lifelog</li>;
}

const lengthOf = ({ startTime, endTime }: DayEntry) =>
	Math.max(0, Date.parse(endTime) - Date.parse(startTime));

const hasAudio = ({ startTime, endTime }: DayEntry, audio: Day['audio']) =>
	audio.some(
		({ startMs, endMs }) => startMs < Date.parse(endTime) && endMs > Date.parse(startTime),
	);
