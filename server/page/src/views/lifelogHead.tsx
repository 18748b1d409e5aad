import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Lifelog } from '../../../../lifelog/api.ts';
import { audioAddress, changeLifelog, writeTitle, type Change, type Session } from '../api.mts';
import { CopyButton } from '../copy.tsx';
import { ConfirmDelete } from '../deleting.tsx';
import { dayInWords, dayOf, lengthInWords, timeInWords } from '../format.mts';
import { Buttons, Dialog, Menu, Problem, Star } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { TranscribeAgain } from './transcribeAgain.tsx';

/** Data of a lifelog, and actions on it. */
export function Head({
	lifelog,
	session,
	hasAudio,
	onName,
	onChanged,
}: {
	lifelog: Lifelog;
	session: Session;
	/** undefined until known. */
	hasAudio: boolean | undefined;
	/** Opens the names of speakers; undefined without speakers. */
	onName: (() => void) | undefined;
	onChanged: () => void;
}) {
	const { timezone } = session;
	const { title, startTime, endTime, isStarred } = lifelog;
	const day = dayOf(startTime, timezone);
	const [start, end] = [startTime, endTime].map((time) => timeInWords(time, timezone));
	const lengthMs = Date.parse(endTime) - Date.parse(startTime);
	return (
		<div class="head">
			<h1>
				<bdi>{title || 'Untitled'}</bdi> {isStarred && <Star />}
			</h1>
			<p class="quiet">
				<Link href={`/days/${day}`}>
					<time dateTime={day}>{dayInWords(day)}</time>
				</Link>
				, <time dateTime={startTime}>{start}</time>
				{/* Hide an identical end, unless a clock was set back. */}
				{(end !== start || lengthMs >= 60_000) && (
					<>
						{' '}
						to <time dateTime={endTime}>{end}</time>
					</>
				)}
				, {lengthInWords(lengthMs)}
				{hasAudio === false && ', no audio'}
			</p>
			<div class="actions">
				<CopyButton name="Copy" shortcut="m" text={() => markdownOf(lifelog, timezone)} />
				<Downloads lifelog={lifelog} timezone={timezone} hasAudio={hasAudio === true} />
				{session.canChange && <Changes lifelog={lifelog} onName={onName} onChanged={onChanged} />}
				{session.canTitle && isMadeHere(lifelog.id) && (
					<WriteTitle id={lifelog.id} onChanged={onChanged} />
				)}
				{session.canUpload && /^recorded-/.test(lifelog.id) && (
					<TranscribeAgain key={lifelog.id} id={lifelog.id} onChanged={onChanged} />
				)}
				{session.canDelete && <Delete lifelog={lifelog} day={day} />}
			</div>
		</div>
	);
}

async function markdownOf(lifelog: Lifelog, timezone: string): Promise<string> {
	const { writeLifelog } = await import('../../../../lifelog/files/formats.ts');
	return writeLifelog(lifelog, 'markdown', timezone)!.content;
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
		// A download's name isn't a path in an archive, and needs no hash.
		const place = entryPath('lifelogs', lifelog.id, file.startMs, () => '');
		const link = document.createElement('a');
		link.href = URL.createObjectURL(new Blob([file.content], { type: file.mimeType }));
		link.download = place.split('/').at(-1)! + file.extension;
		link.click();
		// Some browsers read it only after the user has chosen where to save it.
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

function Changes({
	lifelog,
	onName,
	onChanged,
}: {
	lifelog: Lifelog;
	onName: (() => void) | undefined;
	onChanged: () => void;
}) {
	const [isOpen, setOpen] = useState(false);
	const [problem, attempt] = useAttempt();
	const change = (wanted: Change) =>
		attempt(
			changeLifelog(lifelog.id, wanted).then(() => {
				setOpen(false);
				onChanged();
			}),
		);
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
			<button type="button" aria-keyshortcuts="e" onClick={() => setOpen(true)}>
				Rename
			</button>
			{onName && (
				<button type="button" aria-keyshortcuts="n" onClick={onName}>
					Speakers
				</button>
			)}
			{!isOpen && <Problem text={problem} />}
			{isOpen && (
				<Dialog title="Rename" onClose={() => setOpen(false)}>
					<form
						onSubmit={(event) => {
							event.preventDefault();
							const form = new FormData(event.currentTarget);
							change({ title: form.get('title') as string });
						}}
					>
						<label>
							Title <input name="title" defaultValue={lifelog.title ?? ''} required autofocus />
						</label>
						<Buttons problem={problem} name="Save" onCancel={() => setOpen(false)} />
					</form>
				</Dialog>
			)}
		</>
	);
}

/** Whether the server created a lifelog from a recording or a transcript. */
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
	const [, navigate] = useLocation();
	return (
		<>
			<button type="button" class="danger" aria-keyshortcuts="Delete" onClick={() => setOpen(true)}>
				Delete
			</button>
			{isOpen && (
				<ConfirmDelete
					lifelogs={[lifelog]}
					onConfirmed={() => navigate(`/days/${day}`, { replace: true })}
					onClose={() => setOpen(false)}
				/>
			)}
		</>
	);
}
