// lifelog-server serve: options, and what it says when it is ready.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { commandName, serveUntilStopped, wholeNumber } from './commandLine.mts';
import type { DayRecord } from './store/rows.mts';
import { startServer, type RunningServer } from './server.mts';

const usage = `Usage: ${commandName} serve <folder> [options]

Serves an archive of lifelogs by the API it was archived from.

  --host <name>     address to serve on (default 127.0.0.1: this machine alone)
  --port <n>        port (default 8787; 0: any free one)
  --index <file>    the index (default .lifelog-index.sqlite in the folder); it can be deleted, and is built again
  --read-only       refuse to delete (the default)
  --allow-delete    delete files of the archive when a lifelog or a chat is deleted
  --rate-limit <n>  requests a minute (default: no limit)
  --embeddings-url <address>  and
  --embeddings-model <name>   search by meaning, too: the words of all lifelogs and of searches are sent to this
                    endpoint of the OpenAI form, e.g. http://127.0.0.1:11434/v1 and nomic-embed-text
  --json            print one line of JSON when ready; stop when stdin closes
  --help            print this

LIFELOG_SERVER_KEY is the API key to accept. Without it one is made at the first start and printed once.
LIFELOG_EMBEDDINGS_KEY is sent to the embeddings endpoint, where it wants one.
`;

/**
 * Carries out `lifelog-server serve`: serves until the process is told to stop.
 *
 * @throws Error that says why it could not start.
 */
export async function serveCommand(args: string[]): Promise<void> {
	const { values, positionals } = parseArgs({
		args,
		allowPositionals: true,
		options: {
			host: { type: 'string', default: '127.0.0.1' },
			port: { type: 'string', default: '8787' },
			index: { type: 'string' },
			'read-only': { type: 'boolean', default: false },
			'allow-delete': { type: 'boolean', default: false },
			'rate-limit': { type: 'string' },
			'embeddings-url': { type: 'string' },
			'embeddings-model': { type: 'string' },
			json: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(usage);
		return;
	}
	const [folder] = positionals;
	if (positionals.length !== 1 || !folder) {
		throw new Error(`Give one folder, that of the archive: ${commandName} serve <folder>`);
	}
	if (values['read-only'] && values['allow-delete']) {
		throw new Error('--read-only and --allow-delete cannot go together');
	}
	const { 'embeddings-url': url, 'embeddings-model': model } = values;
	if ((url === undefined) !== (model === undefined)) {
		throw new Error('--embeddings-url and --embeddings-model go together');
	}
	const progress = values.json ? undefined : new Progress();
	const index = values.index ?? join(folder, '.lifelog-index.sqlite');
	const server = await startServer({
		folder,
		host: values.host,
		port: wholeNumber('port', values.port, 0, 65_535),
		index,
		apiKey: process.env.LIFELOG_SERVER_KEY,
		allowDelete: values['allow-delete'],
		embeddings:
			url === undefined || model === undefined
				? undefined
				: { url, model, key: process.env.LIFELOG_EMBEDDINGS_KEY || undefined },
		rateLimit:
			values['rate-limit'] === undefined
				? undefined
				: wholeNumber('rate-limit', values['rate-limit'], 1, 1_000_000),
		log: (line) => console.error(line),
		onProgress: (done, total) => progress?.show(done, total),
	}).finally(() => progress?.stop());
	const { apiKey } = server;
	serveUntilStopped(server.close, values.json ? { url: server.url, apiKey } : undefined);
	if (!values.json) console.log(describe(server, index, values));
}

/** A bar on a terminal, a line in a log. */
class Progress {
	#bar: SingleBar | undefined;

	show(done: number, total: number): void {
		if (total === 0) return;
		if (done === 0) {
			if (!process.stderr.isTTY) console.error(`Indexing ${total} ${total === 1 ? 'day' : 'days'}`);
			this.#bar = new SingleBar({
				format: 'Indexing [{bar}] {value} of {total} days, {eta_formatted} left',
				hideCursor: true,
			});
			if (process.stderr.isTTY) this.#bar.start(total, 0);
		}
		this.#bar?.update(done);
	}

	stop(): void {
		this.#bar?.stop();
	}
}

function describe(
	{ url, apiKey, isKeyNew, store, meaning, canDelete }: RunningServer,
	index: string,
	{ host, 'allow-delete': allowDelete }: { host: string; 'allow-delete': boolean },
): string {
	const { lifelogs, chats, audioFiles } = store.counts();
	const days = store.days();
	const key = isKeyNew
		? `${apiKey}   (made just now, and not shown again: keep it)`
		: apiKey === undefined
			? `the one that was printed at the first start (lost? delete ${index}.key, and start again)`
			: 'the one in LIFELOG_SERVER_KEY';
	const leftOut = days.reduce((sum, { problems }) => sum + Object.keys(problems).length, 0);
	const rows = [
		[
			'Address',
			everyAddress.includes(host) ? `${url}, and every other address of this machine` : url,
		],
		['API key', key],
		[
			'Data',
			[plural(lifelogs, 'lifelog'), plural(chats, 'chat'), plural(audioFiles, 'audio file')].join(
				', ',
			),
		],
		['Days', days.length === 0 ? noDays : `${days[0].day} to ${days.at(-1)!.day} (UTC)`],
		['Missing', listed(missingDays(days))],
		['Not complete', listed(days.filter(({ isComplete }) => !isComplete).map(({ day }) => day))],
		['Left out', leftOut === 0 ? '' : `${plural(leftOut, 'file')}, missing or broken`],
		['Search', meaning?.describe() ?? 'full text (and meaning with --embeddings-url)'],
		[
			'Deleting',
			canDelete
				? 'deletes files of the archive'
				: allowDelete
					? 'is refused: another lifelog-server may delete from this archive'
					: 'is refused (--allow-delete)',
		],
	];
	const lines = rows
		.filter(([, text]) => text !== '')
		.map(([name, text]) => `  ${name.padEnd(12)}  ${text}`);
	return `lifelog-server is running (Ctrl+C stops it).\n\n${lines.join('\n')}`;
}

/** Hosts by which a server listens on all addresses. */
const everyAddress = ['0.0.0.0', '::'];

const noDays = `none yet, as the folder has no file in days/ (an export of the service becomes an archive by ${commandName} import)`;

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const dayMs = 86_400_000;

/** The days between the first and the last that the archive does not have. */
function missingDays(days: DayRecord[]): string[] {
	const there = new Set(days.map(({ day }) => day));
	const missing: string[] = [];
	const last = Date.parse(days.at(-1)?.day ?? '');
	for (let ms = Date.parse(days.at(0)?.day ?? ''); ms < last; ms += dayMs) {
		const day = new Date(ms).toISOString().slice(0, 10);
		if (!there.has(day)) missing.push(day);
	}
	return missing;
}

const mostListed = 10;

/** Days as ranges, the first ones of many. */
function listed(days: string[]): string {
	const ranges: [string, string][] = [];
	for (const day of days) {
		const open = ranges.at(-1);
		if (open && Date.parse(day) - Date.parse(open[1]) === dayMs) open[1] = day;
		else ranges.push([day, day]);
	}
	const shown = ranges
		.slice(0, mostListed)
		.map(([first, last]) => (first === last ? first : `${first} to ${last}`));
	const more =
		ranges.length > mostListed ? ` and ${ranges.length - mostListed} more stretches` : '';
	return days.length === 0 ? '' : `${days.length}: ${shown.join(', ')}${more}`;
}
