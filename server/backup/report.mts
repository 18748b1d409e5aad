// report.json and report.md of an archive (docs/reference/archive.md, "Report").
import { changeDays } from '../archive/changeDays.mts';
import type { Folder } from '../archive/folder.mts';
import { toJson } from '../archive/lifelogFiles.mts';
import { OWN_RUN } from '../archive/otherRun.mts';

export interface Totals {
	daysInArchive: number;
	lifelogs: number;
	chats: number;
	audioFiles: number;
	bytes: number;
	hoursWithoutAudio: number;
}

export interface RunResult {
	isComplete: boolean;
	/** Entries of the service in the examined days. */
	found: { lifelogs: number; chats: number };
	/** How many of them the archive has, and its amount of audio. */
	stored: { lifelogs: number; chats: number };
	totals: Totals;
	/** What is missing, and why. */
	problems: Problem[];
	firstDay: string | undefined;
	lastDay: string | undefined;
}

export interface Problem {
	day?: string;
	what: string;
	message: string;
}

/** State of a run. */
export interface Report extends Partial<Totals> {
	version: 1;
	state: 'starting' | 'running' | 'ended';
	runId: string;
	/** ISO. */
	startedAt: string;
	firstDay?: string | null;
	lastDay?: string | null;
	daysToDo?: number;
	daysDone?: number;
	secondsLeft?: number;
	/** Incomplete parts. Without a day, the problem isn't about a single one. */
	failed: { day?: string; message: string }[];
}

const MAX_PROBLEMS_IN_SUMMARY = 10;

/** A run ID of the command `archive`. */
export const newRunId = (startedAt: string): string => `${OWN_RUN}${startedAt} ${process.pid}`;

/** Writes both files of the report; returns its summary, one or more sentences. */
export async function writeReport(folder: Folder, report: Report): Promise<string> {
	const isComplete = report.state === 'ended' && report.failed.length === 0;
	const summary = summaryOf(report, isComplete);
	const whole = { ...report, updatedAt: new Date().toISOString(), isComplete, summary };
	const files = [
		{ path: 'report.json', content: toJson(whole) },
		{ path: 'report.md', content: markdownOf(whole) },
	];
	await changeDays(folder, [], () => ({ files }));
	return summary;
}

const problemOf = ({ day, message }: Report['failed'][number]) =>
	day === undefined ? message : `${day}: ${message}`;

function summaryOf(report: Report, isComplete: boolean): string {
	const { state, daysDone = 0, daysToDo = 0, secondsLeft = 0, failed } = report;
	if (state === 'starting') return 'Starting.';
	if (state === 'running') {
		return `Day ${daysDone} of ${daysToDo}, about ${Math.ceil(secondsLeft / 60)} min left.`;
	}
	if (isComplete) return `Complete: ${daysDone} days archived in this run.`;
	const days = [...new Set(failed.map(({ day }) => day).filter((day) => day !== undefined))];
	return [
		days.length > 0 ? `Not complete: ${days.join(', ')}.` : 'Not complete.',
		daysToDo > daysDone ? `${daysToDo - daysDone} more days were not tried.` : '',
		...failed.slice(0, MAX_PROBLEMS_IN_SUMMARY).map((problem) => `${problemOf(problem)}.`),
		'Run it again. Stored files are kept.',
	]
		.filter(Boolean)
		.join(' ');
}

function markdownOf(report: Report & { updatedAt: string; summary: string }): string {
	const { firstDay, lastDay, failed } = report;
	const rows = [
		['Days', report.daysInArchive],
		['Lifelogs', report.lifelogs],
		['Chats', report.chats],
		['Audio files', report.audioFiles],
		['Bytes', report.bytes],
		['Hours without audio', report.hoursWithoutAudio],
		['Days looked at', firstDay ? `${firstDay} to ${lastDay}` : undefined],
		['Began', report.startedAt],
		['Last written', report.updatedAt],
	].filter(([, value]) => value !== undefined);
	const problems = failed.map((problem) => `- ${problemOf(problem)}`);
	return `${[
		'# Archive',
		report.summary,
		['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
		...(problems.length > 0 ? ['## Failed', problems.join('\n')] : []),
	].join('\n\n')}\n`;
}
