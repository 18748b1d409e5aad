// lifelog-server import: output.
import { SingleBar } from 'cli-progress';
import { commandName, displayed, throwIfAny } from '../util/commandLine.mts';
import { readCommand, timezoneOr } from '../util/options.mts';
import { importExport, type Counts, type Imported } from '../import/import.mts';
import { plural, printable } from '../util/text.mts';
import { import as declared, unknownOnes } from './commands.mts';

/** Runs `lifelog-server import`; returns its exit code. */
export async function importCommand(args: string[]): Promise<number> {
	const bar = progressBar();
	try {
		const given = readCommand(declared, args);
		if (!given) return 0;
		const { values, operands, problems } = given;
		throwIfAny(problems);
		for (const line of unknownOnes()) process.stderr.write(`${printable(line)}\n`);
		const [from, to] = operands;
		const timezone = timezoneOr(values.timezone);
		const imported = await importExport(from, to, timezone, bar.show).finally(bar.stop);
		process.stdout.write(values.json ? `${JSON.stringify(imported)}\n` : describe(imported, to));
		if (imported.unreadCount === 0) return 0;
		return sum(imported.added) + sum(imported.known) > 0 ? 1 : 2;
	} catch (error) {
		process.stderr.write(displayed(error as Error));
		return 2;
	}
}

const sum = ({ lifelogs, chats, audio }: Counts) => lifelogs + chats + audio;

/** A progress bar on standard error, if it is a terminal. */
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
