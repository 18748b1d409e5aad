// lifelog-server: which command is meant. Each loads only what it needs.
import { setFlagsFromString } from 'node:v8';
import { commandName, fail } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';

const usage = `Usage: ${commandName} <command> <folder> [options]

  archive <folder>           save everything that the service has
  serve <folder>             serve an archive through the service's API
  check <folder>             compare every file of an archive with its checksum
  import <export> <folder>   convert the app's export into an archive, or add it to one

A folder without a command is served. If a folder has the name of a command, write ./archive, for example.
${commandName} <command> --help lists the options; --version prints the version.

Exit code: 0 complete, 1 something is missing or wrong, 2 it could not start.
`;

// Otherwise what is no longer needed may fill several times the memory of what is.
setFlagsFromString('--memory-saver-mode');

async function main([command, ...args]: string[]): Promise<void> {
	switch (command) {
		case 'archive':
			process.exitCode = await (await import('./archive.mts')).archiveCommand(args);
			return;
		case 'check':
			process.exitCode = await (await import('./check.mts')).checkCommand(args);
			return;
		case 'import':
			process.exitCode = await (await import('./import.mts')).importCommand(args);
			return;
		case 'serve':
			return await (await import('./serve.mts')).serveCommand(args);
		case undefined:
		case 'help':
		case '--help':
		case '-h':
			process.stdout.write(usage);
			if (command === undefined) process.exitCode = 2;
			return;
		default:
			return await (await import('./serve.mts')).serveCommand([command, ...args]);
	}
}

main(process.argv.slice(2)).catch((error: unknown) => fail(asError(error)));
