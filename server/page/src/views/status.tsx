import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readEndpoints, readStatus, type Session, type Status } from '../api.mts';
import { count, dayInWords, figure, lengthInWords } from '../format.mts';
import { EndpointText, IndexProgress, Load, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';
import { ArchiveStateView } from './archiveState.tsx';
import { Webhooks } from './webhooks.tsx';

/** Interval for reading the progress of the index. */
const LOOK_MS = 3_000;

/** What the archive contains and lacks. */
export function StatusView({ session }: { session: Session }) {
	useTitle('Status');
	const status = useLoad('status', readStatus);
	const isReady = status.value?.index.state === 'ready';
	useEffect(() => {
		if (status.value === undefined || isReady) return;
		const timer = setTimeout(status.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [status.value, status.error]);
	return (
		<>
			<h1>Status</h1>
			<Load of={status}>
				{(found) =>
					found.lifelogs === undefined ? (
						<IndexProgress index={found.index} />
					) : (
						<>
							<dl class="cards">
								<Card name="Days" number={found.days} />
								<Card name="Lifelogs" number={found.lifelogs} />
								<Card name="Chats" number={found.chats} />
								<Card name="Audio files" number={found.audioFiles} />
							</dl>
							<dl class="facts">
								<dt>First day</dt>
								<dd>{found.firstDay ? dayLink(found.firstDay) : 'none yet'}</dd>
								<dt>Last day</dt>
								<dd>{found.lastDay ? dayLink(found.lastDay) : 'none yet'}</dd>
								<dt>Index</dt>
								<dd>up to date</dd>
								<dt>Search</dt>
								<dd>{found.search}</dd>
								<dt>Editing</dt>
								<dd>
									<Editing session={session} />
								</dd>
								<dt>Time zone</dt>
								<dd>{session.timezone}</dd>
								<dt>Version</dt>
								<dd>{session.version}</dd>
							</dl>
							{session.canFill && (
								<p>
									<Link href="/add">Add lifelogs</Link>
								</p>
							)}
							<ArchiveStateView timezone={session.timezone} />
							<Endpoints />
							{session.hasWebhooks && <Webhooks timezone={session.timezone} />}
							{found.peopleProblem !== null && (
								<section>
									<h2>People</h2>
									<p class="problem">
										<code>people.json</code> <bdi>{found.peopleProblem}</bdi>. Until it's repaired,
										speakers have the names in their lifelogs, and people can't be changed.
									</p>
								</section>
							)}
							{found.replacementsProblem !== null && (
								<section>
									<h2>Replacements</h2>
									<p class="problem">
										<code>replacements.json</code> <bdi>{found.replacementsProblem}</bdi>. Until
										it's repaired, words can't be replaced, and new recordings have the words that
										were heard.
									</p>
								</section>
							)}
							<Days title="Incomplete days (UTC)" days={found.incompleteDays} />
							<Days
								title="Missing days (UTC)"
								text="The archive has nothing of these days. After an import, perhaps nothing was recorded."
								days={found.missingDays}
							/>
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
												<bdi>
													<code>{path}</code>
												</bdi>{' '}
												<bdi>{reason}</bdi>
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

/** Whether lifelogs can be changed here, and how to allow it. */
function Editing({ session }: { session: Session }) {
	const { canChange, canDelete, isReadOnly, refusal } = session;
	if (isReadOnly) return <>off, because you signed in with a read-only key</>;
	if (refusal !== null) return <>off. {refusal}.</>;
	if (canChange && canDelete) return <>on</>;
	return (
		<>
			{canChange || canDelete ? 'partly on.' : 'off.'}
			{!canChange && (
				<>
					{' '}
					To star and rename lifelogs, correct lines and words, name speakers and upload recordings,
					start the server with <code>--allow-changes</code>.
				</>
			)}
			{!canDelete && (
				<>
					{' '}
					To delete, start it with <code>--allow-delete</code>.
				</>
			)}
		</>
	);
}

/** Model endpoints, checked each time this is shown. */
function Endpoints() {
	const endpoints = useLoad('endpoints', readEndpoints);
	if (endpoints.value?.length === 0) return null;
	return (
		<section>
			<h2>Endpoints</h2>
			<Load of={endpoints}>
				{(found) => (
					<>
						<dl class="facts">
							{found.map((endpoint) => (
								<Fragment key={endpoint.name}>
									<dt>{endpoint.name}</dt>
									<dd>
										<EndpointText of={endpoint} />
									</dd>
								</Fragment>
							))}
						</dl>
						<button type="button" aria-keyshortcuts="e" onClick={endpoints.reload}>
							Ask again
						</button>
					</>
				)}
			</Load>
		</section>
	);
}

const Card = ({ name, number }: { name: string; number: number }) => (
	<div>
		<dt>{name}</dt>
		<dd>{figure(number)}</dd>
	</div>
);

const dayLink = (day: string) => (
	<Link href={`/days/${day}`}>
		<time dateTime={day}>{dayInWords(day)}</time>
	</Link>
);

function Days({ title, text, days }: { title: string; text?: string; days: string[] }) {
	if (days.length === 0) return null;
	return (
		<section>
			<h2>{title}</h2>
			{text && <p class="quiet">{text}</p>}
			<ul class="plain-list columns-list">
				{rangesOf(days).map((range) => (
					<li key={range}>
						<bdi>{range}</bdi>
					</li>
				))}
			</ul>
		</section>
	);
}

/** Formats days; consecutive ones as a range. */
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

function AudioGaps({ audioGaps, audioGapsCount }: Status) {
	if (audioGapsCount === 0) return null;
	return (
		<section>
			<h2>Gaps in audio on {count(audioGapsCount, 'day')}</h2>
			<ul class="plain-list columns-list">
				{audioGaps.map(({ day, missingMs }) => (
					<li key={day}>
						<Link href={`/days/${day}`}>
							<time dateTime={day}>{dayInWords(day, { dateStyle: 'medium' })}</time>
						</Link>{' '}
						<span class="quiet">{lengthInWords(missingMs)}</span>
					</li>
				))}
			</ul>
		</section>
	);
}
