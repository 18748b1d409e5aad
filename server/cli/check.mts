// lifelog-server check: options and output.
import { SingleBar } from 'cli-progress';
import { readApiKey } from '../backup/access.mts';
import { checkArchive, type Progress, type Summary } from '../check/check.mts';
import { CannotCheck, type Finding, KINDS } from '../check/findings.mts';
import { asRanges } from '../check/gaps.mts';
import { dayOf } from '../check/layout.mts';
import { CannotStart, displayed, throwIfAny } from '../util/commandLine.mts';
import { plural, printable } from '../util/text.mts';
import { readCommand } from '../util/options.mts';
import { check as declared, unknownOnes } from './commands.mts';

const DAY_MS = 86_400_000;

/** @returns undefined if the help was requested. */
async function readOptions(args: string[]) {
	const given = readCommand(declared, args);
	if (!given) return undefined;
	const { values, operands, problems, sourceOf } = given;
	if (sourceOf('url') === '--url' && !values.service) problems.push('--url needs --service');
	throwIfAny(problems);
	for (const line of unknownOnes()) process.stderr.write(`${printable(line)}\n`);
	return {
		folder: operands[0],
		access: values.service ? { apiKey: await readApiKey(), baseUrl: values.url } : undefined,
		until: values.until ?? dayOf(Date.now() - DAY_MS),
		asJson: values.json,
	};
}

/** A progress bar on standard error, if it is a terminal. */
function showProgress(): Progress & { clear: () => void; stop: () => void } {
	const bar = new SingleBar({
		format: '{bar} {value}/{total} days  {megabytes} MB  {eta_formatted} left  {note}',
		hideCursor: true,
		clearOnComplete: true,
		barsize: 30,
		gracefulExit: true,
	});
	const isShown = process.stderr.isTTY === true;
	const note = (text: string) => isShown && bar.update({ note: text });
	return {
		days: (done, total, bytes) => {
			const payload = { megabytes: megabytes(bytes), note: '' };
			if (done === 0) bar.start(total, 0, payload);
			else bar.update(done, payload);
		},
		read: (entries) => note(`${entries} lifelogs and chats of the service`),
		wait: (seconds) => note(`waits ${Math.ceil(seconds)} s for the rate limit`),
		// Keeps a line from being appended to the bar. The next update draws it again.
		clear: () => isShown && process.stderr.write('\r\x1b[K'),
		stop: () => bar.stop(),
	};
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
const sizeOf = (bytes: number) =>
	bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${megabytes(bytes)} MB`;

function lineOf({ kind, day = '', path, id, message }: Finding): string {
	return printable(`${kind.padEnd(10)}  ${day.padEnd(10)}  ${path ?? id ?? 'the day'} ${message}`);
}

function conclusionOf(summary: Summary, until: string): string {
	const { days, firstDay, lastDay, lifelogs, chats, audioFiles, rightFiles, rightBytes } = summary;
	const { atService, counts, daysWithoutFile: without, isComplete } = summary;
	const found = KINDS.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`);
	return [
		`${plural(days, 'day')}${days > 0 ? `, ${firstDay} to ${lastDay}` : ''}: ${plural(lifelogs, 'lifelog')}, ${plural(chats, 'chat')}, ${plural(audioFiles, 'audio file')}.`,
		...(without.length > 0
			? [
					`${plural(without.length, 'day')} in between without a day manifest: ${asRanges(without)}.`,
				]
			: []),
		`${plural(rightFiles, 'file')} (${sizeOf(rightBytes)}) are unchanged.`,
		atService === undefined
			? 'Not compared with the service (--service does that).'
			: `Compared with ${atService.toLocaleString('en')} lifelogs and chats of the service, up to ${until}.`,
		isComplete ? 'The archive is complete.' : `The archive is not complete: ${found.join(', ')}.`,
	].join('\n');
}

/**
 * Checks an archive.
 *
 * @returns The exit code: 0 nothing found, 1 something found, 2 not checked.
 */
export async function checkCommand(args: string[]): Promise<0 | 1 | 2> {
	try {
		return await check(args);
	} catch (error) {
		if (!(error instanceof CannotCheck || error instanceof CannotStart)) throw error;
		process.stderr.write(displayed(error));
		return 2;
	}
}

async function check(args: string[]): Promise<0 | 1> {
	const options = await readOptions(args);
	if (!options) return 0;
	const findings: Finding[] = [];
	const progress = showProgress();
	const report = (finding: Finding) => {
		if (options.asJson) return void findings.push(finding);
		progress.clear();
		process.stdout.write(`${lineOf(finding)}\n`);
	};
	const checking = checkArchive(options, report, progress);
	const summary = await checking.finally(() => progress.stop());
	const text = options.asJson
		? JSON.stringify({ ...summary, findings }, null, '\t')
		: conclusionOf(summary, options.until);
	process.stdout.write(`${text}\n`);
	return summary.isComplete ? 0 : 1;
}
