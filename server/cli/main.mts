// lifelog-server: selects the command. Each loads only what it needs.
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { CannotStart, fail } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';
import { suggestion } from '../util/options.mts';
import { COMMANDS, overview } from './commands.mts';

// Otherwise, unused memory may be several times the used memory.
setFlagsFromString('--memory-saver-mode');

const runs: Record<string, (args: string[]) => Promise<number | void>> = {
	archive: async (args) => await (await import('./archive.mts')).archiveCommand(args),
	check: async (args) => await (await import('./check.mts')).checkCommand(args),
	export: async (args) => await (await import('./export.mts')).exportCommand(args),
	import: async (args) => await (await import('./import.mts')).importCommand(args),
	link: async (args) => (await import('./link.mts')).linkCommand(args),
	serve: async (args) => await (await import('./serve.mts')).serveCommand(args),
};

async function main([first, ...rest]: string[]): Promise<void> {
	const names = COMMANDS.map(({ name }) => name);
	if (first === 'help' && names.includes(rest[0])) return await main([rest[0], '--help']);
	if (first === undefined || ['help', '--help', '-h'].includes(first)) {
		process.stdout.write(overview());
		if (first === undefined) process.exitCode = 2;
		return;
	}
	if (names.includes(first)) {
		process.exitCode = (await runs[first](rest)) ?? undefined;
		return;
	}
	// A folder without a command is served.
	const isFolder = first.startsWith('-') || existsSync(first);
	const nearest = suggestion(first, names);
	if (!isFolder && (nearest !== '' || /^\w+$/.test(first))) {
		throw new CannotStart(
			`There is no command and no folder ${first}${nearest || `. Commands: ${names.join(', ')}`}`,
		);
	}
	await runs.serve([first, ...rest]);
}

/** Shells use this exit code for a program whose reader, such as `head`, has ended. */
const PIPE_CLOSED = 128 + 13;
for (const stream of [process.stdout, process.stderr]) {
	stream.on('error', (error: NodeJS.ErrnoException) => {
		if (error.code !== 'EPIPE') throw error;
		process.exit(PIPE_CLOSED);
	});
}

main(process.argv.slice(2)).catch((error: unknown) => fail(asError(error)));
