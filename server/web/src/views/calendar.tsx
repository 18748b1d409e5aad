import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readDays, type CalendarDay, type Session } from '../api.mts';
import { count, dayInWords, lengthInWords, todayIn } from '../format.mts';
import { isForPage } from '../keys.tsx';
import { Load, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

/** The months with something in them, newest first. */
export function Calendar({ session: { timezone } }: { session: Session }) {
	useTitle('Calendar');
	const days = useLoad('calendar', readDays);
	return (
		<>
			<h1>Your days</h1>
			<Load of={days}>
				{(found) => (found.length === 0 ? <Empty /> : <Months days={found} timezone={timezone} />)}
			</Load>
		</>
	);
}

const Empty = () => (
	<p class="quiet">
		There are no lifelogs yet. Save yours with <code>lifelog-server archive</code>, then reload this
		page.
	</p>
);

function Months({ days, timezone }: { days: CalendarDay[]; timezone: string }) {
	const container = useRef<HTMLDivElement>(null);
	const byDay = new Map(days.map((day) => [day.day, day]));
	const shades = shadesOf(days);
	const months = monthsOf(days);
	const years = [...new Set(months.map((month) => month.slice(0, 4)))];
	const today = todayIn(timezone);

	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (!isForPage(event)) return;
			const focused = document.activeElement?.closest<HTMLElement>('[data-day]')?.dataset.day;
			const to = target(event.key, focused, days, today);
			if (to === undefined) return;
			event.preventDefault();
			container.current?.querySelector<HTMLElement>(`[data-day="${to}"]`)?.focus();
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, [days, today]);

	return (
		<>
			<p class="quiet">
				Each day shows the total length of its lifelogs. ★ marks days with starred lifelogs.
			</p>
			{years.length > 1 && (
				<nav class="years" aria-label="Years">
					{years.map((year) => (
						<a key={year} href={`#${months.find((month) => month.startsWith(year))}`}>
							{year}
						</a>
					))}
				</nav>
			)}
			<div ref={container} class="months">
				{months.map((month) => (
					<Month key={month} month={month} byDay={byDay} shades={shades} today={today} />
				))}
			</div>
		</>
	);
}

function Month({
	month,
	byDay,
	shades,
	today,
}: {
	month: string;
	byDay: Map<string, CalendarDay>;
	shades: Map<number, number>;
	today: string;
}) {
	const name = dayInWords(`${month}-01`, { month: 'long', year: 'numeric' });
	const length = new Date(
		Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0),
	).getUTCDate();
	const first = new Date(`${month}-01T12:00:00Z`).getUTCDay() || 7;
	return (
		<section class="month" id={month} aria-label={name}>
			<h2>{name}</h2>
			<div class="weekdays" aria-hidden="true">
				{WEEK.map((day) => (
					<span key={day}>{dayInWords(day, { weekday: 'narrow' })}</span>
				))}
			</div>
			<ol class="days" data-first={first}>
				{Array.from({ length }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`).map(
					(day) => (
						<li key={day} class={day === today ? 'today' : undefined}>
							<DayCell day={day} found={byDay.get(day)} shades={shades} />
						</li>
					),
				)}
			</ol>
		</section>
	);
}

function DayCell({
	day,
	found,
	shades,
}: {
	day: string;
	found?: CalendarDay;
	shades: Map<number, number>;
}) {
	const number = Number(day.slice(8));
	if (!found) return <span class="day none">{number}</span>;
	const { lifelogs, starred, durationMs, audioMs } = found;
	const shade = lifelogs > 0 ? `shade-${shades.get(durationMs)}` : 'heard';
	const words = [
		dayInWords(day),
		...(lifelogs > 0
			? [count(lifelogs, 'lifelog'), lengthInWords(durationMs)]
			: [`${lengthInWords(audioMs)} of audio`, 'no lifelogs']),
		starred > 0 && `${starred} starred`,
	]
		.filter(Boolean)
		.join(', ');
	return (
		<Link href={`/days/${day}`} class={`day ${shade}`} data-day={day} title={words}>
			<span class="hidden">{words}</span>
			<span aria-hidden="true">{number}</span>
			<span class="figure" aria-hidden="true">
				{lifelogs > 0 ? shortLength(durationMs) : 'audio'}
			</span>
			{starred > 0 && (
				<span class="mark" aria-hidden="true">
					★
				</span>
			)}
		</Link>
	);
}

/** The shade of each length, from 1 to 5: a fifth of the days has each, so that one long day pales no other. */
function shadesOf(days: CalendarDay[]): Map<number, number> {
	const lengths = days
		.filter(({ lifelogs }) => lifelogs > 0)
		.map(({ durationMs }) => durationMs)
		.sort((a, b) => a - b);
	const shades = new Map(
		lengths.map((length, at) => [length, Math.ceil((5 * (at + 1)) / lengths.length)]),
	);
	if (shades.has(0)) shades.set(0, 1);
	return shades;
}

/** A week that begins with a Monday. */
const WEEK = Array.from({ length: 7 }, (_, at) => `2024-01-0${at + 1}`);

/** A length that fits into a cell: hours, of less than one minutes. */
function shortLength(ms: number): string {
	const minutes = Math.round(ms / 60_000);
	return minutes < 60 ? `${minutes} m` : `${Math.round(minutes / 60)} h`;
}

/** The months from the newest day to the oldest, `YYYY-MM`, those with nothing left out. */
function monthsOf(days: CalendarDay[]): string[] {
	return [...new Set(days.map(({ day }) => day.slice(0, 7)))];
}

/** The day that a key leads to: the next one with lifelogs in that direction. */
function target(
	key: string,
	focused: string | undefined,
	days: CalendarDay[],
	today: string,
): string | undefined {
	const newest = days[0].day;
	const oldest = days.at(-1)!.day;
	const at = focused ?? newest;
	// Days are listed newest first.
	const before = (limit: string) => days.find(({ day }) => day <= limit)?.day ?? oldest;
	const after = (limit: string) => days.findLast(({ day }) => day >= limit)?.day ?? newest;
	switch (key) {
		case 'ArrowLeft':
			return focused ? before(plusDays(at, -1)) : at;
		case 'ArrowRight':
			return focused ? after(plusDays(at, 1)) : at;
		case 'ArrowUp':
			return focused ? before(plusDays(at, -7)) : at;
		case 'ArrowDown':
			return focused ? after(plusDays(at, 7)) : at;
		case 'PageDown':
			return before(plusMonths(at, -1));
		case 'PageUp':
			return after(plusMonths(at, 1));
		case 't':
			return before(today);
		default:
			return undefined;
	}
}

function plusDays(day: string, more: number): string {
	const date = new Date(`${day}T12:00:00Z`);
	date.setUTCDate(date.getUTCDate() + more);
	return date.toISOString().slice(0, 10);
}

/** The same day of another month, or that month's last. */
function plusMonths(day: string, more: number): string {
	const [year, month, date] = day.split('-').map(Number);
	const last = new Date(Date.UTC(year, month + more, 0)).getUTCDate();
	return new Date(Date.UTC(year, month - 1 + more, Math.min(date, last)))
		.toISOString()
		.slice(0, 10);
}
