// A process that carries out commands of lifelog-server one after the other, as many as it is sent. A
// process for each would take most of the time of a test with hundreds. (test/support/commands.mts)
import { checkCommand } from '../../server/cli/check.mts';
import { archiveCommand } from '../../server/cli/archive.mts';
import { exportCommand } from '../../server/cli/export.mts';
import { importCommand } from '../../server/cli/import.mts';
import { fail } from '../../server/util/commandLine.mts';
import type { Ended, SentCommand } from './commands.mts';
import { asError } from '../../server/util/errors.mts';

const commands: Record<string, (args: string[]) => Promise<number>> = {
	archive: archiveCommand,
	check: checkCommand,
	export: exportCommand,
	import: importCommand,
};

const written: Omit<Ended, 'status'> = { stdout: '', stderr: '', output: '' };
for (const name of ['stdout', 'stderr'] as const) {
	process[name].write = ((text: unknown) => {
		written[name] += String(text);
		written.output += String(text);
		return true;
	}) as typeof process.stdout.write;
}
console.error = (line: string) => process.stderr.write(`${line}\n`);

const before = { ...process.env };

process.on('message', ({ name, args, env }: SentCommand) => {
	Object.assign(written, { stdout: '', stderr: '', output: '' });
	for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
	Object.assign(process.env, before, env);
	void commands[name](args)
		.catch((error: unknown) => {
			fail(asError(error));
			process.exitCode = undefined;
			return 2;
		})
		.then((status) => {
			// Each run of archive adds its own.
			for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
			process.send!({ status, ...written });
		});
});
process.on('disconnect', () => process.exit());
