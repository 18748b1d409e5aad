// lifelog-server export: output.
import { SingleBar } from 'cli-progress';
import { reasonOf } from '../backup/reasons.mts';
import type { Folder } from '../archive/folder.mts';
import { exportArchive, type ExportOptions } from '../export/export.mts';
import { ExportFolder } from '../export/exportFolder.mts';
import type { Exported, Told } from '../export/report.mts';
import { openArchive } from '../export/source.mts';
import { CannotStart, displayed, type ExitCode, throwIfAny } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';
import { readCommand, timezoneOr } from '../util/options.mts';
import { plural, printable } from '../util/text.mts';
import { exportCommand as declared, unknownOnes } from './commands.mts';

/** Maximum files to name in each list. `--json` names all. */
const MAX_NAMED = 20;

/** Runs `lifelog-server export`; returns its exit code. */
export async function exportCommand(args: string[]): Promise<ExitCode> {
	let opened: ExportFolder | undefined;
	try {
		const given = readCommand(declared, args);
		if (!given) return 0;
		const { values, operands, problems } = given;
		const { form, audio, json } = values;
		if (form === 'app-export' && audio) problems.push('--audio needs --form markdown');
		throwIfAny(problems);
		for (const line of unknownOnes()) process.stderr.write(`${printable(line)}\n`);
		const timezone = timezoneOr(values.timezone);
		const archive = await openArchive(operands[0]);
		const to = await ExportFolder.open(operands[1], archive);
		opened = to;
		const exported = await run(archive, to, { form, audio, timezone });
		process.stdout.write(json ? `${JSON.stringify(exported)}\n` : describe(exported));
		return exported.failed.length > 0 ? 1 : 0;
	} catch (error) {
		process.stderr.write(explain(error));
		return opened && !(error instanceof CannotStart) ? 1 : 2;
	}
}

async function run(archive: Folder, to: ExportFolder, options: ExportOptions): Promise<Exported> {
	const bar = progressBar();
	try {
		return await exportArchive(archive, to, options, bar.show);
	} finally {
		bar.stop();
		await to.close();
	}
}

/** A progress bar on standard error, if it is a terminal. */
function progressBar() {
	const bar = new SingleBar({
		format: 'Exporting [{bar}] {value} of {total} lifelogs, {eta_formatted} left',
		hideCursor: true,
		clearOnComplete: true,
		gracefulExit: true,
	});
	return {
		show: (done: number, total: number) => {
			if (done === 0) bar.start(total, 0);
			else bar.update(done);
		},
		stop: () => bar.stop(),
	};
}

function describe({ lifelogs, written, removed, kept, failed }: Exported): string {
	const changes = [
		written > 0 && `${plural(written, 'file')} written`,
		removed > 0 && `${plural(removed, 'file')} removed`,
	].filter((each) => each !== false);
	const lines = [
		`${plural(lifelogs, 'lifelog')}: ${changes.length > 0 ? changes.join(', ') : 'nothing new'}.`,
		...listed('Left as they are', kept),
		...listed('Not exported', failed),
	];
	return lines.map((line) => `${printable(line)}\n`).join('');
}

function listed(heading: string, files: Told[]): string[] {
	if (files.length === 0) return [];
	const named = files.slice(0, MAX_NAMED).map(({ path, problem }) => `  ${path} ${problem}`);
	const more = files.length - named.length;
	return [
		`${heading}: ${plural(files.length, 'file')}.`,
		...named,
		...(more > 0 ? [`  and ${more} more`] : []),
	];
}

const A_FILE = 'There is a file where the folder should be. Choose another folder';
/** Errors of the target folder. */
const FOLDER_ERRORS: Record<string, string> = {
	ENOENT: 'The folder is missing. Check that its disk is connected, then export again',
	...{ EEXIST: A_FILE, ENOTDIR: A_FILE },
};

/** Why it ended, for display. */
function explain(error: unknown): string {
	if (error instanceof CannotStart) return displayed(error);
	const { code = '' } = asError(error);
	return displayed(new Error(FOLDER_ERRORS[code] ?? reasonOf(error)));
}
