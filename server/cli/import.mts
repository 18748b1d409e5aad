import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { commandName, timezoneOf } from '../util/commandLine.mts';
import { importExport, type Counts, type Imported } from '../import/import.mts';
import { plural, printable } from '../util/text.mts';

const usage = `Usage: ${commandName} import <export> <archive> [options]

Adds the service's own export, or files of Export Lifelogs, to an archive: a zip or a folder. What is already in the archive
stays as it is, and what was deleted from it isn't added again. So you can import the same export again.

  --timezone <name>  zone of times in Markdown, e.g. Europe/Berlin (default: the system's)
  --json             print one report as JSON
  --help             print this

Exit code: 0 everything was read, 1 something was not, 2 nothing was imported.
`;

/** Carries out `lifelog-server import`, and gives its exit code. */
export async function importCommand(args: string[]): Promise<number> {
	const bar = progressBar();
	try {
		const { values, positionals } = parseArgs({
			args,
			allowPositionals: true,
			options: {
				timezone: { type: 'string' },
				json: { type: 'boolean', default: false },
				help: { type: 'boolean', short: 'h', default: false },
			},
		});
		if (values.help) {
			process.stdout.write(usage);
			return 0;
		}
		const [from, to] = positionals;
		if (positionals.length !== 2 || !from || !to) {
			throw new Error(`Give the export and the archive: ${commandName} import <export> <archive>`);
		}
		const timezone = timezoneOf(values.timezone);
		const imported = await importExport(from, to, timezone, bar.show).finally(bar.stop);
		process.stdout.write(values.json ? `${JSON.stringify(imported)}\n` : describe(imported, to));
		if (imported.unreadCount === 0) return 0;
		return sum(imported.added) + sum(imported.known) > 0 ? 1 : 2;
	} catch (error) {
		process.stderr.write(`${printable((error as Error).message)}\n`);
		return 2;
	}
}

const sum = ({ lifelogs, chats, audio }: Counts) => lifelogs + chats + audio;

/** A bar on standard error, where that is a terminal. */
function progressBar() {
	const bar = new SingleBar({
		format: 'Importing [{bar}] {value} of {total} files, {megabytes} MB, {eta_formatted} left',
		hideCursor: true,
		clearOnComplete: true,
		gracefulExit: true,
	});
	return {
		show: (done: number, total: number, bytes: number) => {
			const payload = { megabytes: (bytes / 1e6).toFixed(1) };
			if (done === 0) bar.start(total, 0, payload);
			else bar.update(done, payload);
		},
		stop: () => bar.stop(),
	};
}

function describe(imported: Imported, to: string): string {
	const { added, known, days, passedOver, unread, unreadCount } = imported;
	const others = Object.entries(passedOver)
		.map(([folder, files]) => `${folder}/ (${plural(files, 'file')})`)
		.join(', ');
	const lines = [
		sum(added) === 0 ? 'Nothing new.' : `Imported: ${listed(added)}, on ${plural(days, 'day')}.`,
		sum(known) > 0 && `Deleted from the archive, or in it already: ${listed(known)}.`,
		others !== '' && `Skipped, because an archive has no place for it: ${others}.`,
		unreadCount > 0 && `Not read: ${plural(unreadCount, 'file')}.`,
		...unread.map(({ path, problem }) => `  ${path} ${problem}`),
		unreadCount > unread.length && `  and ${unreadCount - unread.length} more`,
		sum(added) > 0 && `Serve it: ${commandName} serve ${to}`,
	];
	return lines
		.filter((line) => line !== false)
		.map((line) => `${printable(line)}\n`)
		.join('');
}

const listed = ({ lifelogs, chats, audio }: Counts) =>
	[plural(lifelogs, 'lifelog'), plural(chats, 'chat'), plural(audio, 'audio file')].join(', ');
