import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { archive, stopArchiving, type Session, type Ways } from '../api.mts';
import { useExportUpload } from '../exportUpload.mts';
import { count, figure, lengthInWords, sizeInWords, timeInWords } from '../format.mts';
import { FileDrop, Load, Problem, useTitle } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import type { Loaded } from '../useLoad.mts';
import { busyWith, useWays } from '../useWays.mts';
import { HowToRecord } from './noRecordings.tsx';
import { AboutRecordings, Upload } from './recordings.tsx';

/** The ways to add lifelogs, as a separate view. */
export function Add({ session }: { session: Session }) {
	useTitle('Add lifelogs');
	const ways = useWays();
	return (
		<>
			<h1>Add lifelogs</h1>
			<WaysIn ways={ways} session={session} />
		</>
	);
}

/** The three ways: the service, a recording, the app's export. */
export function WaysIn({ ways, session }: { ways: Loaded<Ways>; session: Session }) {
	return (
		<Load of={ways}>
			{(found) => (
				<div class="ways">
					<FromService ways={found} loaded={ways} session={session} />
					<FromRecording session={session} />
					<FromExport ways={found} />
				</div>
			)}
		</Load>
	);
}

const Way = ({ title, children }: { title: string; children: ComponentChildren }) => (
	<section class="way">
		<h2>{title}</h2>
		{children}
	</section>
);

const LIMITLESS = 'api.limitless.ai';

function FromService({
	ways,
	loaded,
	session,
}: {
	ways: Ways;
	loaded: Loaded<Ways>;
	session: Session;
}) {
	const { service, archiving } = ways;
	const { state, progress, waitsUntil, message, problems, problemsCount, hasKey } = archiving;
	const [key, setKey] = useState('');
	const [problem, attempt] = useAttempt();
	const name = service === LIMITLESS ? 'Limitless' : service;
	const isBusy = busyWith(ways) === 'archiving';
	return (
		<Way title={`From ${name}`}>
			{isBusy ? (
				<>
					<ArchivingProgress ways={ways} />
					{waitsUntil !== null && (
						<p>
							{name} asks for a pause until {timeInWords(waitsUntil, session.timezone)}.
						</p>
					)}
					<p class="quiet">The server goes on if you close this page.</p>
					<button
						type="button"
						aria-keyshortcuts="p"
						disabled={state === 'stopping'}
						onClick={() => attempt(stopArchiving().then(loaded.replace))}
					>
						{state === 'stopping' ? 'Stopping…' : 'Stop'}
					</button>
				</>
			) : (
				<>
					{state === 'complete' && message === null && (
						<p>
							<strong>Everything up to yesterday is archived.</strong> Run it again at any time to
							add what is new.
						</p>
					)}
					{state === 'unfinished' && (
						<p>
							<strong>It isn't complete yet.</strong> What was archived stays, and the server goes
							on from there.
						</p>
					)}
					{state === 'idle' && (
						<p>
							Archive all lifelogs, chats and audio. Copy your API key from the developer settings
							of the app.
						</p>
					)}
					<Problem text={message ?? ''} />
					<Missing problems={problems} total={problemsCount} />
					<form
						onSubmit={(event) => {
							event.preventDefault();
							attempt(
								archive(hasKey ? undefined : key.trim()).then((next) => {
									setKey('');
									loaded.replace(next);
								}),
							);
						}}
					>
						{!hasKey && (
							<>
								<label for="service-key">API key of {name}</label>
								<input
									id="service-key"
									type="password"
									autocomplete="off"
									required
									aria-keyshortcuts="k"
									value={key}
									onInput={({ currentTarget }) => setKey(currentTarget.value)}
								/>
							</>
						)}
						<button type="submit" aria-keyshortcuts="b">
							{state === 'unfinished' || (state === 'failed' && progress?.daysDone)
								? 'Continue'
								: 'Archive'}
						</button>
						<Problem text={problem} />
					</form>
					{!hasKey && (
						<p class="quiet">
							The server keeps the key in memory until everything is archived, and writes it
							nowhere.
						</p>
					)}
				</>
			)}
		</Way>
	);
}

function ArchivingProgress({ ways: { archiving } }: { ways: Ways }) {
	const { progress } = archiving;
	if (!progress || progress.daysToDo === 0) {
		return (
			<>
				<p role="status">Looking at what there is…</p>
				<progress aria-label="Days archived" />
				<p class="quiet">{progress?.phase}</p>
			</>
		);
	}
	const { daysDone, daysToDo, lifelogs, chats, audio, bytes, phase } = progress;
	return (
		<>
			<p role="status">{daysInWords(progress)}</p>
			<progress value={daysDone} max={daysToDo} aria-label="Days archived" />
			<p class="quiet">
				{[
					phase,
					count(lifelogs, 'lifelog'),
					count(chats, 'chat'),
					count(audio, 'audio file'),
					sizeInWords(bytes),
				].join(' · ')}
			</p>
		</>
	);
}

function daysInWords({
	daysDone,
	daysToDo,
	secondsLeft,
}: NonNullable<Ways['archiving']['progress']>): string {
	const left = secondsLeft > 0 ? `, about ${lengthInWords(secondsLeft * 1000)} left` : '';
	return `${figure(daysDone)} of ${count(daysToDo, 'day')}${left}`;
}

function Missing({ problems, total }: { problems: Ways['archiving']['problems']; total: number }) {
	if (total === 0) return null;
	const text = ({ day, what, message }: (typeof problems)[number]) =>
		`${day === undefined ? '' : `${day}: `}${what}: ${message}`;
	return (
		<details>
			<summary aria-keyshortcuts="i">{count(total, 'thing')} missing</summary>
			<ul class="plain-list">
				{problems.map((each) => (
					<li key={text(each)}>
						<bdi>{text(each)}</bdi>
					</li>
				))}
			</ul>
			{total > problems.length && <p class="quiet">The file report.md in the archive has all.</p>}
		</details>
	);
}

function FromRecording({ session }: { session: Session }) {
	const { canUpload, hasRecordings } = session;
	return (
		<Way title="A recording">
			<p>Turn audio from a phone, a voice recorder or any other device into a lifelog.</p>
			{canUpload && <Upload onUploaded={() => {}} />}
			{hasRecordings ? (
				<>
					<AboutRecordings session={session} />
					<p>
						<Link href="/recordings">Go to the recordings</Link>
					</p>
				</>
			) : (
				<HowToRecord />
			)}
		</Way>
	);
}

function FromExport({ ways }: { ways: Ways }) {
	const { importing } = ways;
	const { done, total, bytes, message } = importing;
	const { share, problem, send } = useExportUpload();
	const isSending = share !== undefined;
	const isBusy = isSending || busyWith(ways) === 'importing';
	const isReceiving = importing.state === 'receiving';
	const start = useRef<HTMLParagraphElement>(null);
	const isSentHere = useRef(false);
	// The button was gone meanwhile, and the focus with it.
	useEffect(() => {
		if (isSending) isSentHere.current = true;
		if (isBusy || !isSentHere.current) return;
		isSentHere.current = false;
		if (document.activeElement !== document.body) return;
		start.current!.parentElement!.querySelector('button')!.focus({ preventScroll: true });
	}, [isSending, isBusy]);
	useEffect(() => {
		if (location.hash === EXPORT) start.current!.scrollIntoView({ block: 'center' });
	}, []);
	return (
		<Way title="The app's export">
			<p ref={start}>Import the zip that the app exports, or add it to what is archived.</p>
			{isSending && (
				<>
					<p role="status">Uploading… Keep this page open.</p>
					<progress value={share} max={1} aria-label="Uploading the export" />
				</>
			)}
			{isReceiving && !isSending && <p role="status">{UPLOADING_ELSEWHERE}</p>}
			{isBusy && !isReceiving && !isSending && (
				<>
					<p role="status">
						{total === 0
							? 'Reading the export…'
							: `${figure(done)} of ${count(total, 'file')} imported, ${sizeInWords(bytes)}`}
					</p>
					<progress aria-label="Files imported" {...(total > 0 && { value: done, max: total })} />
					<p class="quiet">The server goes on if you close this page.</p>
				</>
			)}
			<Problem text={problem || (isBusy ? '' : (message ?? ''))} />
			{!isBusy && (
				<>
					{!problem && <Imported importing={importing} />}
					<FileDrop
						label="Upload the export"
						text="Drop the zip here, or"
						name="Choose the zip"
						shortcut="z"
						accept=".zip,application/zip"
						onFiles={([zip]) => zip && void send(zip)}
					/>
				</>
			)}
		</Way>
	);
}

const EXPORT = '#export';
const UPLOADING_ELSEWHERE = 'Another page is uploading an export.';

/** The result of an import, and what it couldn't read. */
function Imported({ importing: { imported } }: Pick<Ways, 'importing'>) {
	if (!imported) return null;
	const { added, known, passedOver, unread, unreadCount } = imported;
	const kinds = ({ lifelogs, chats, audio }: typeof added) =>
		[count(lifelogs, 'lifelog'), count(chats, 'chat'), count(audio, 'audio file')].join(', ');
	const isKnown = known.lifelogs + known.chats + known.audio > 0;
	const others = Object.entries(passedOver).map(
		([folder, files]) => `${folder}/ (${count(files, 'file')})`,
	);
	return (
		<>
			<p>
				<strong>Imported: {kinds(added)}.</strong>
			</p>
			{isKnown && <p class="quiet">Already there, or deleted: {kinds(known)}.</p>}
			{others.length > 0 && (
				<p class="quiet">
					Skipped, because an archive has no place for it: <bdi>{others.join(', ')}</bdi>.
				</p>
			)}
			{unreadCount > 0 && (
				<details open>
					<summary aria-keyshortcuts="j">{count(unreadCount, 'file')} not read</summary>
					<ul class="plain-list">
						{unread.map(({ path, problem }) => (
							<li key={path}>
								<bdi>
									<code>{path}</code>
								</bdi>{' '}
								<bdi>{problem}</bdi>
							</li>
						))}
					</ul>
				</details>
			)}
		</>
	);
}

/** Shown above the days: what is being added or was just added. */
export function Filling({ ways, isShown }: { ways: Ways; isShown: boolean }) {
	const busy = busyWith(ways);
	const [last, setLast] = useState(busy);
	const { share, problem } = useExportUpload();
	if (busy && busy !== last) setLast(busy);
	const isSending = share !== undefined;
	const after = () => (problem ? "The export wasn't uploaded." : textAfter(last, ways));
	const text = isSending ? UPLOADING : busy ? textOf(busy, ways) : after();
	if (text === undefined || !isShown) return null;
	const isArchiving = !isSending && !problem && last === 'archiving';
	return (
		<p class="notice" role="status">
			{text} <Link href={isArchiving ? '/add' : `/add${EXPORT}`}>Show details</Link>
		</p>
	);
}

const UPLOADING = 'Uploading the export… Keep this page open.';

function textOf(busy: 'archiving' | 'importing', { archiving, importing }: Ways): string {
	if (busy === 'archiving') {
		const { progress } = archiving;
		return progress && progress.daysToDo > 0
			? `Archiving: ${daysInWords(progress)}.`
			: 'Archiving: looking at what there is.';
	}
	const { state, done, total } = importing;
	if (state === 'receiving') return UPLOADING_ELSEWHERE;
	return total > 0
		? `Importing the export: ${figure(done)} of ${count(total, 'file')}.`
		: 'Importing the export.';
}

/** The message after a way has ended; undefined if there is nothing to report. */
function textAfter(
	last: 'archiving' | 'importing' | undefined,
	{ archiving, importing }: Ways,
): string | undefined {
	if (importing.state === 'failed' && last !== 'archiving') return 'The last import failed.';
	if (last === 'importing') {
		const unread = importing.imported?.unreadCount ?? 0;
		return `The export is imported${unread > 0 ? `, except ${count(unread, 'file')}` : ''}.`;
	}
	if (archiving.state === 'failed') return 'Archiving has failed.';
	if (archiving.state === 'unfinished') return "Archiving isn't complete yet.";
	return last && 'Everything up to yesterday is archived.';
}
