// Beside the calendar: the newest lifelogs, and this day in earlier years.
import { Link } from 'wouter-preact';
import type { Lifelog } from '../../../../lifelog/api.ts';
import { readDay, readNewest, type CalendarDay, type DayEntry } from '../api.mts';
import { useKeptOf } from '../deletions.mts';
import {
	count,
	dateTimeInWords,
	dayInWords,
	figure,
	hoursInWords,
	timeInWords,
	todayIn,
} from '../format.mts';
import { Load, Star } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

const NEWEST = 5;
/** Maximum lifelogs per earlier year; the longest ones. */
const OF_A_YEAR = 3;

export function Lately({ days, timezone }: { days: CalendarDay[]; timezone: string }) {
	// Load again when the days change.
	const known = `${days[0].day} ${sum(days, ({ lifelogs }) => lifelogs)}`;
	const newest = useLoad(`newest ${known}`, () => readNewest(NEWEST, timezone));
	return (
		<div class="lately">
			<section>
				<h2>Newest</h2>
				<Load of={newest}>
					{(found) => <List lifelogs={found} when={(time) => dateTimeInWords(time, timezone)} />}
				</Load>
			</section>
			<OnThisDay days={days} timezone={timezone} />
		</div>
	);
}

function OnThisDay({ days, timezone }: { days: CalendarDay[]; timezone: string }) {
	const today = todayIn(timezone);
	const earlier = days.filter(
		({ day, lifelogs }) => lifelogs > 0 && day < today && day.slice(4) === today.slice(4),
	);
	const names = earlier.map(({ day }) => day);
	const found = useLoad(`on this day ${names.join()}`, () =>
		Promise.all(
			names.map(async (day) => ({ day, longest: longestOf((await readDay(day)).lifelogs) })),
		),
	);
	if (earlier.length === 0) return null;
	return (
		<section>
			<h2>On this day</h2>
			<Load of={found}>
				{(years) =>
					years.map(({ day, longest }) => (
						<section key={day}>
							<h3>
								<Link href={`/days/${day}`}>
									<time dateTime={day}>{dayInWords(day)}</time>
								</Link>
							</h3>
							<List lifelogs={longest} when={(time) => timeInWords(time, timezone)} />
						</section>
					))
				}
			</Load>
		</section>
	);
}

/** The longest lifelogs of a day, in order of time. */
function longestOf(lifelogs: DayEntry[]): DayEntry[] {
	const lengthOf = ({ startTime, endTime }: DayEntry) =>
		Date.parse(endTime) - Date.parse(startTime);
	const longest = lifelogs.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, OF_A_YEAR);
	return lifelogs.filter((each) => longest.includes(each));
}

type Listed = Pick<Lifelog, 'id' | 'title' | 'startTime' | 'isStarred'>;

function List({ lifelogs, when }: { lifelogs: Listed[]; when: (time: string) => string }) {
	return (
		<ol class="plain-list rows">
			{useKeptOf(lifelogs).map(({ id, title, startTime, isStarred }) => (
				<li key={id}>
					<span>
						<Link href={`/lifelogs/${encodeURIComponent(id)}`} data-entry>
							<bdi>{title || 'Untitled'}</bdi>
						</Link>{' '}
						{isStarred && <Star />}
					</span>
					<time class="quiet" dateTime={startTime}>
						{when(startTime)}
					</time>
				</li>
			))}
		</ol>
	);
}

/** Total numbers of the archive. */
export function Totals({ days }: { days: CalendarDay[] }) {
	const starred = sum(days, (day) => day.starred);
	const audioMs = sum(days, (day) => day.audioMs);
	const lifelogs = sum(days, (day) => day.lifelogs);
	return (
		<p class="quiet">
			{[
				`${count(lifelogs, 'lifelog')} on ${count(days.length, 'day')}`,
				`${hoursInWords(sum(days, ({ durationMs }) => durationMs))} of talk`,
				audioMs > 0 && `${hoursInWords(audioMs)} of audio`,
				starred > 0 && `${figure(starred)} starred`,
			]
				.filter(Boolean)
				.join(' · ')}
		</p>
	);
}

const sum = (days: CalendarDay[], of: (day: CalendarDay) => number) =>
	days.reduce((all, day) => all + of(day), 0);
