import { useLayoutEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { CalendarDay } from '../api.mts';
import { count, dayInWords, figure, lengthInWords, todayIn } from '../format.mts';
import { isForPage } from '../keys.tsx';

/** Months with content, newest first. */
export function Months({ days, timezone }: { days: CalendarDay[]; timezone: string }) {
	const container = useRef<HTMLDivElement>(null);
	const byDay = new Map(days.map((day) => [day.day, day]));
	const begin = firstWeekday();
	const months = monthsOf(days);
	const years = [...new Set(months.map((month) => month.slice(0, 4)))];
	const today = todayIn(timezone);

	useLayoutEffect(() => {
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
			<p class="quiet">Each day shows the total length of its lifelogs.</p>
			<Legend />
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
					<Month key={month} month={month} byDay={byDay} begin={begin} today={today} />
				))}
			</div>
		</>
	);
}

function Month({
	month,
	byDay,
	begin,
	today,
}: {
	month: string;
	byDay: Map<string, CalendarDay>;
	/** First weekday. */
	begin: number;
	today: string;
}) {
	const name = dayInWords(`${month}-01`, { month: 'long', year: 'numeric' });
	const length = new Date(
		Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0),
	).getUTCDate();
	const weekday = new Date(`${month}-01T12:00:00Z`).getUTCDay();
	const first = ((weekday - begin + 7) % 7) + 1;
	return (
		<section class="month" id={month} aria-label={name}>
			<h2>{name}</h2>
			<div class="weekdays" aria-hidden="true">
				{[...WEEK.slice(begin - 1), ...WEEK.slice(0, begin - 1)].map((day) => (
					<span key={day}>{dayInWords(day, { weekday: 'narrow' })}</span>
				))}
			</div>
			<ol class="days" data-first={first}>
				{Array.from({ length }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`).map(
					(day) => (
						<li key={day} class={day === today ? 'today' : undefined}>
							<DayCell day={day} found={byDay.get(day)} />
						</li>
					),
				)}
			</ol>
		</section>
	);
}

function DayCell({ day, found }: { day: string; found?: CalendarDay }) {
	const number = Number(day.slice(8));
	if (!found) return <span class="day none">{number}</span>;
	const { lifelogs, starred, durationMs, audioMs } = found;
	const { hours, text } = figureOf(durationMs);
	const shade = lifelogs > 0 ? `shade-${shadeOf(hours)}` : 'heard';
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
				{lifelogs > 0 ? text : 'audio'}
			</span>
			{starred > 0 && (
				<span class="mark" aria-hidden="true">
					★
				</span>
			)}
		</Link>
	);
}

/** Minimum hours of the second shade and each further one. */
const STEPS = [1, 3, 6, 9];

/** A duration for a cell: minutes, or from one hour, hours with one decimal. */
function figureOf(ms: number): { hours: number; text: string } {
	const minutes = Math.round(ms / 60_000);
	if (minutes === 0) return { hours: 0, text: '<1 m' };
	if (minutes < 60) return { hours: minutes / 60, text: `${minutes} m` };
	const hours = Math.round(minutes / 6) / 10;
	return { hours, text: `${figure(hours)} h` };
}

/** The shade of a number of hours, from 1 to 5. */
const shadeOf = (hours: number) => 1 + STEPS.filter((step) => hours >= step).length;

const Legend = () => (
	<ul class="legend">
		<li class="step-1">under {STEPS[0]} h</li>
		{STEPS.map((step, at) => (
			<li key={step} class={`step-${at + 2}`}>
				{at + 1 < STEPS.length ? `${step} to ${STEPS[at + 1]} h` : `${step} h and more`}
			</li>
		))}
		<li class="star">starred</li>
	</ul>
);

/** The first day of the week in the browser's settings: 1 is Monday, 7 is Sunday. */
function firstWeekday(): number {
	const locale = new Intl.Locale(navigator.language) as Intl.Locale & {
		getWeekInfo?: () => { firstDay: number };
	};
	return locale.getWeekInfo?.().firstDay ?? 1;
}

/** A week that starts on Monday. */
const WEEK = Array.from({ length: 7 }, (_, at) => `2024-01-0${at + 1}`);

/** Months with content from the newest to the oldest day, `YYYY-MM`. */
function monthsOf(days: CalendarDay[]): string[] {
	return [...new Set(days.map(({ day }) => day.slice(0, 7)))];
}

/** The day to focus with a key: the next one with lifelogs in that direction. */
function target(
	key: string,
	focused: string | undefined,
	days: CalendarDay[],
	today: string,
): string | undefined {
	const newest = days[0].day;
	const oldest = days.at(-1)!.day;
	const at = focused ?? newest;
	// Days are sorted newest first.
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

/** The same day of another month, or that month's last day. */
function plusMonths(day: string, more: number): string {
	const [year, month, date] = day.split('-').map(Number);
	const last = new Date(Date.UTC(year, month + more, 0)).getUTCDate();
	return new Date(Date.UTC(year, month - 1 + more, Math.min(date, last)))
		.toISOString()
		.slice(0, 10);
}
