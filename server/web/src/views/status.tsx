import { Link } from 'wouter-preact';
import { readStatus, type IndexState, type Session, type Status } from '../api.mts';
import { count, dayInWords, lengthInWords } from '../format.mts';
import { Load, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

/** What there is, and what is missing. */
export function StatusView({ session }: { session: Session }) {
	useTitle('Status');
	const status = useLoad('status', readStatus);
	return (
		<>
			<h1>Status</h1>
			<Load of={status}>
				{(found) =>
					found.lifelogs === undefined ? (
						<Waiting index={found.index} />
					) : (
						<>
							<dl class="facts">
								<dt>Lifelogs</dt>
								<dd>{found.lifelogs.toLocaleString()}</dd>
								<dt>Chats</dt>
								<dd>{found.chats.toLocaleString()}</dd>
								<dt>Audio files</dt>
								<dd>{found.audioFiles.toLocaleString()}</dd>
								<dt>Days</dt>
								<dd>
									{found.firstDay && found.lastDay
										? `${found.days.toLocaleString()}, from ${dayInWords(found.firstDay)} to ${dayInWords(found.lastDay)}`
										: 'none yet'}
								</dd>
								<dt>Index</dt>
								<dd>up to date</dd>
								<dt>Search</dt>
								<dd>{found.search}</dd>
								<dt>Time zone</dt>
								<dd>{session.timezone}</dd>
								<dt>Version</dt>
								<dd>{session.version}</dd>
							</dl>
							<Days title="Incomplete days (UTC)" days={found.incompleteDays} />
							<Days title="Missing days (UTC)" days={found.missingDays} />
							{found.leftOutCount > 0 && (
								<section>
									<h2>{count(found.leftOutCount, 'file')} left out</h2>
									<p class="quiet">
										These files are missing or damaged. Run <code>lifelog-server check</code> to
										check every file.
									</p>
									<ul class="plain-list">
										{found.leftOut.map(({ path, reason }) => (
											<li key={path}>
												<code>{path}</code> {reason}
											</li>
										))}
									</ul>
								</section>
							)}
							<AudioGaps {...found} />
						</>
					)
				}
			</Load>
		</>
	);
}

function Days({ title, days }: { title: string; days: string[] }) {
	if (days.length === 0) return null;
	return (
		<section>
			<h2>{title}</h2>
			<p>{rangesOf(days).join(', ')}</p>
		</section>
	);
}

/** Days in words, those in a row as one range. */
function rangesOf(days: string[]): string[] {
	const ranges: [first: string, last: string][] = [];
	for (const day of days) {
		const open = ranges.at(-1);
		if (open && Date.parse(day) - Date.parse(open[1]) === DAY_MS) open[1] = day;
		else ranges.push([day, day]);
	}
	const inWords = (day: string) => dayInWords(day, { dateStyle: 'medium' });
	return ranges.map(([first, last]) =>
		first === last ? inWords(first) : `${inWords(first)} to ${inWords(last)}`,
	);
}

const DAY_MS = 86_400_000;

function Waiting({ index: { state, done = 0, total = 0 } }: { index: IndexState }) {
	const what = state === 'indexing' ? 'The index is being built' : 'The index is damaged';
	const progress = total > 0 ? `: ${done.toLocaleString()} of ${count(total, 'day')} read` : '';
	return (
		<p class="notice">
			{what}
			{progress}. Lifelogs appear once it's ready.
		</p>
	);
}

function AudioGaps({ audioGaps, audioGapsCount }: Status) {
	if (audioGapsCount === 0) return null;
	return (
		<section>
			<h2>Gaps in audio on {count(audioGapsCount, 'day')}</h2>
			<ul class="plain-list columns-list">
				{audioGaps.map(({ day, missingMs }) => (
					<li key={day}>
						<Link href={`/days/${day}`}>{dayInWords(day, { dateStyle: 'medium' })}</Link>{' '}
						<span class="quiet">{lengthInWords(missingMs)}</span>
					</li>
				))}
			</ul>
		</section>
	);
}
