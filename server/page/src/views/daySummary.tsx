import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { shownNames } from '../../../../lifelog/speakers.ts';
import { readLifelogsOf, type Day, type DayEntry } from '../api.mts';
import { CopyButton } from '../copy.tsx';
import { timeInWords } from '../format.mts';

const isShown = () => localStorage.getItem('summary') !== 'closed';

/** A day's summary, with a link to a lifelog in each line. The user can close it. */
export function Summary({ day, lifelogs, timezone }: Day) {
	const [isOpen] = useState(isShown);
	const starred = lifelogs.filter(({ isStarred }) => isStarred);
	const speakers = speakersOf(lifelogs);
	return (
		<details
			class="summary"
			open={isOpen}
			onToggle={({ currentTarget: { open } }) =>
				localStorage.setItem('summary', open ? 'open' : 'closed')
			}
		>
			<summary aria-keyshortcuts="y">Summary</summary>
			<CopyButton name="Copy as Markdown" shortcut="k" text={() => markdownOf(day, timezone)} />
			{speakers.length > 0 && (
				<p>
					<strong>Who took part:</strong>{' '}
					{[...shownNames(speakers)].map(([name, shown], at) => (
						<Fragment key={name}>
							{at > 0 && ', '}
							<bdi>{shown}</bdi>
						</Fragment>
					))}
				</p>
			)}
			{starred.length > 0 && <Lines name="Starred" lifelogs={starred} timezone={timezone} />}
			<Lines name="What happened" lifelogs={lifelogs} timezone={timezone} />
		</details>
	);
}

/** The wearer first, if unnamed, then the others. */
function speakersOf(lifelogs: DayEntry[]): string[] {
	const all = [...new Set(lifelogs.flatMap(({ speakers }) => speakers))];
	const known = all.filter((name) => name.toLowerCase() !== 'unknown');
	return [...known.filter(isYou), ...known.filter((name) => !isYou(name))];
}

const isYou = (name: string) => name === 'You';

/** One line per lifelog. Headings are in the list below. */
function Lines({
	name,
	lifelogs,
	timezone,
}: {
	name: string;
	lifelogs: DayEntry[];
	timezone: string;
}) {
	return (
		<>
			<h2>{name}</h2>
			<ul>
				{lifelogs.map(({ id, title, startTime }) => (
					<li key={id}>
						<Link href={`/lifelogs/${encodeURIComponent(id)}`}>
							<time dateTime={startTime}>{timeInWords(startTime, timezone)}</time>{' '}
							<bdi>{title || 'Untitled'}</bdi>
						</Link>
					</li>
				))}
			</ul>
		</>
	);
}

/** The summary in the format of the node's Get Daily Summary. */
async function markdownOf(day: string, timezone: string): Promise<string> {
	const [lifelogs, { summaryOf }] = await Promise.all([
		readLifelogsOf(day, timezone),
		import('../summary.mts'),
	]);
	return summaryOf(lifelogs, day, timezone);
}
