// lifelog-server check: the options, and what it says.
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { checkArchive, type Progress, type Summary } from '../check/check.mts';
import { CannotCheck, type Finding, KINDS } from '../check/findings.mts';
import { asRanges } from '../check/gaps.mts';
import { dayOf, isDay } from '../check/layout.mts';
import { accessFrom } from '../check/service.mts';

const usage = `Usage: lifelog-server check <folder> [options]

Compares every file of an archive (docs/reference/archive.md) with its size and SHA-256, and lists what is
missing, broken, left over or incomplete. With --service it also lists what is new, changed or gone
at the service.

  --service       compare with the service; LIFELOG_API_KEY is the key, and LIFELOG_BASE_URL the
                  address (default https://api.limitless.ai)
  --until <day>   the last day to compare with the service (default: yesterday, in UTC)
  --json          print one report as JSON
  --help          print this

Exit code: 0 nothing found, 1 something found, 2 not checked.
`;

/** Why the options cannot be followed; the usage is to be printed below. */
class WrongUse extends CannotCheck {}

const PUBLIC_SERVICE = 'https://api.limitless.ai';
const DAY_MS = 86_400_000;

const isSet = (text: string | undefined): text is string => (text ?? '').trim() !== '';

/** A line without what moves the cursor of a terminal or turns the direction of text. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');

function readOptions(args: string[]) {
	const { values, positionals } = parse(args);
	if (values.help) return undefined;
	if (positionals.length !== 1) throw new WrongUse('Name one folder.');
	const until = values.until ?? dayOf(Date.now() - DAY_MS);
	if (!isDay(until))
		throw new CannotCheck(`--until must be a day such as 2026-03-01, not ${until}`);
	const access = values.service ? readAccess() : undefined;
	return { folder: positionals[0], access, until, asJson: values.json };
}

function readAccess() {
	const { LIFELOG_API_KEY: key, LIFELOG_BASE_URL: address } = process.env;
	if (!isSet(key)) throw new CannotCheck('--service needs the API key in LIFELOG_API_KEY.');
	return accessFrom(key.trim(), isSet(address) ? address : PUBLIC_SERVICE);
}

function parse(args: string[]) {
	try {
		return parseArgs({
			args,
			options: {
				service: { type: 'boolean', default: false },
				json: { type: 'boolean', default: false },
				until: { type: 'string' },
				help: { type: 'boolean', short: 'h', default: false },
			},
			allowPositionals: true,
		});
	} catch (error) {
		throw new WrongUse((error as Error).message);
	}
}

/** A bar on standard error, where that is a terminal. */
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
		// So that a line does not end up behind the bar; the next update draws it again.
		clear: () => isShown && process.stderr.write('\r\x1b[K'),
		stop: () => bar.stop(),
	};
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
const sizeOf = (bytes: number) =>
	bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${megabytes(bytes)} MB`;
const plural = (count: number, noun: string) =>
	`${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

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
		if (!(error instanceof CannotCheck)) throw error;
		process.stderr.write(`${printable(error.message)}\n`);
		if (error instanceof WrongUse) process.stderr.write(`\n${usage}`);
		return 2;
	}
}

async function check(args: string[]): Promise<0 | 1> {
	const options = readOptions(args);
	if (!options) {
		process.stdout.write(usage);
		return 0;
	}
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
