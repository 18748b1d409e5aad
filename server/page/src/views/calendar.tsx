import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readDays, type CalendarDay, type Session } from '../api.mts';
import { Load, useTitle } from '../parts.tsx';
import { useLoad, type Loaded } from '../useLoad.mts';
import { busyWith, useWays } from '../useWays.mts';
import { Filling, WaysIn } from './add.tsx';
import { Lately, Totals } from './lately.tsx';
import { Months } from './months.tsx';

/** The start view: the calendar with the newest lifelogs beside it. */
export function Calendar({
	session,
	onFilled,
}: {
	session: Session;
	/** Called when archiving or importing has ended. */
	onFilled: () => void;
}) {
	useTitle('Calendar');
	const days = useLoad('calendar', readDays);
	return (
		<>
			<h1>Your days</h1>
			{session.canFill ? (
				<Growing days={days} session={session} onFilled={onFilled} />
			) : (
				<Load of={days}>
					{(found) =>
						found.length === 0 ? (
							<Empty canUpload={session.canUpload} />
						) : (
							<Days days={found} timezone={session.timezone} />
						)
					}
				</Load>
			)}
		</>
	);
}

/** Interval for reading days while some are added. The server finds them after some seconds. */
const LOOK_MS = 3_000;
const FOUND_MS = 6_000;

/** Days while they are added, or ways to fill an empty archive. */
function Growing({
	days,
	session,
	onFilled,
}: {
	days: Loaded<CalendarDay[]>;
	session: Session;
	onFilled: () => void;
}) {
	const ways = useWays();
	const isBusy = ways.value !== undefined && busyWith(ways.value) !== undefined;
	const isEmpty = days.value?.length === 0;
	useEffect(() => {
		if (!isBusy && !isEmpty && !days.error) return;
		const timer = setTimeout(days.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [days.value, days.error, isBusy]);
	const wasBusy = useRef(isBusy);
	useEffect(() => {
		const hasEnded = wasBusy.current && !isBusy;
		wasBusy.current = isBusy;
		if (!hasEnded) return;
		const timer = setTimeout(() => {
			days.reload();
			onFilled();
		}, FOUND_MS);
		return () => clearTimeout(timer);
	}, [isBusy]);
	return (
		<>
			{ways.value && <Filling ways={ways.value} isShown={!isEmpty} />}
			<Load of={days}>
				{(found) =>
					found.length === 0 ? (
						<>
							<p>
								{isBusy
									? 'There are no lifelogs yet. The first day appears here on its own.'
									: 'There are no lifelogs yet. Add some in one of these ways:'}
							</p>
							<WaysIn ways={ways} session={session} />
						</>
					) : (
						<Days days={found} timezone={session.timezone} />
					)
				}
			</Load>
		</>
	);
}

const Empty = ({ canUpload }: { canUpload: boolean }) => (
	<div class="notice">
		<p>There are no lifelogs yet. To fill this calendar:</p>
		<ul>
			<li>
				<code>lifelog-server archive</code> saves what a service has.
			</li>
			<li>
				<code>lifelog-server import</code> converts the app's export.
			</li>
			{canUpload && (
				<li>
					<Link href="/recordings">Upload recordings</Link> to turn audio into lifelogs.
				</li>
			)}
		</ul>
		<p>
			Then reload this page. To do both here, let the server write to the archive, and start it
			without <code>--read-only</code>.
		</p>
	</div>
);

/** The months, with the newest lifelogs beside them. */
function Days({ days, timezone }: { days: CalendarDay[]; timezone: string }) {
	return (
		<>
			<Totals days={days} />
			<div class="start">
				<Lately days={days} timezone={timezone} />
				<div class="calendar">
					<Months days={days} timezone={timezone} />
				</div>
			</div>
		</>
	);
}
