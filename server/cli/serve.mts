// lifelog-server serve: options, and what it says when it is ready.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import {
	commandName,
	oneOf,
	serveUntilStopped,
	timezoneOf,
	wholeNumber,
} from '../util/commandLine.mts';
import { isFuture } from '../archive/layout.mts';
import { keyFromEnvironment, keySource } from '../util/keySource.mts';
import { plural } from '../util/text.mts';
import { logFormats, logLevels, openLog } from '../http/log.mts';
import { EVERY_ADDRESS } from '../http/auth/hosts.mts';
import { missingDays } from '../http/missingDays.mts';
import type { EndpointOptions } from '../util/modelEndpoint.mts';
import type { InboxTimes } from '../recordings/inbox.mts';
import type { RunningServer, ServerOptions } from '../http/startServer.mts';
import { DAY_MS } from '../util/durations.mts';

const usage = `Usage: ${commandName} serve <folder> [options]

Serves an archive of lifelogs through the service's API.

  --host <name>     address to serve on (default 127.0.0.1: only this machine)
  --port <n>        port (default 8787; 0: any free port)
  --index <file>    index file (default .lifelog-index.sqlite in the folder); if you delete it, it is built again
  --read-only       refuse to delete and to change (the default)
  --allow-changes   create and change lifelogs in the archive
  --allow-delete    delete files of the archive when a lifelog or a chat is deleted
  --rate-limit <n>  requests a minute (default: no limit)
  --embeddings-url <address>  and
  --embeddings-model <name>   also search by meaning: the words of all lifelogs and searches are sent to this
                    OpenAI-compatible endpoint, e.g. http://127.0.0.1:11434/v1 and nomic-embed-text
  --timezone <name>           zone of the page's days, of times in the names of recordings, and of times in
                    the Markdown of new lifelogs (default: the system's)
  --allowed-hosts <names>     names under which browsers may reach this server, e.g. lifelogs.example.org
  --allow-http                show the page over plain HTTP to other machines, in a network that you trust
  --trust-proxy <addresses>   proxies that report the client's address, e.g. 127.0.0.1,172.16.0.0/12
  --log-level <level>         error, warn, info (default) or debug, which has a line for each request
  --log-format <format>       text (default) or json
  --chat-url <address>  and
  --chat-model <name>   write title and headings of new lifelogs: their words are sent to this
                    OpenAI-compatible endpoint
  --transcription-url <address>  and
  --transcription-model <name>   turn recordings into lifelogs: their audio is sent to this OpenAI-compatible
                    endpoint. Needs ffmpeg, and --allow-changes for uploads
  --transcription-language <code>  spoken language, e.g. de (default: the endpoint detects it)
  --transcription-format <name>    mp3 (default) or wav
  --diarization-url <address>  and
  --diarization-model <name>       also ask this endpoint who speaks
  --inbox <folder>  turn the audio files in this folder into lifelogs, then move them to its folder done/; those
                    that can't be used go to failed/, with the reason
  --inbox-copy      leave the files of the inbox where they are
  --max-upload <n>  maximum size of an uploaded recording, in MB (default 2000)
  --keep-originals  keep uploaded files in originals/ of the archive when they are done
  --json            print one line of JSON when ready; stop when stdin closes
  --help            print this

LIFELOG_SERVER_KEY is the API key to accept. Without it, the first start makes one and prints it once.
LIFELOG_EMBEDDINGS_KEY, LIFELOG_CHAT_KEY, LIFELOG_TRANSCRIPTION_KEY and LIFELOG_DIARIZATION_KEY are sent to these
endpoints, if they need one. Add _FILE to any of these five names to give the path of a file with the key.
`;

/**
 * Carries out `lifelog-server serve`: serves until the process is told to stop.
 *
 * @throws Error that says why it could not start.
 */
export async function serveCommand(args: string[], inboxTimes?: InboxTimes): Promise<void> {
	const { values, positionals } = parse(args);
	if (values.help) {
		process.stdout.write(usage);
		return;
	}
	const [folder] = positionals;
	if (positionals.length !== 1 || !folder) {
		throw new Error(`Give the folder of the archive: ${commandName} serve <folder>`);
	}
	const options = readOptions(folder, values, inboxTimes);
	const log = openLog({
		level: oneOf('log-level', values['log-level'], logLevels),
		format: oneOf('log-format', values['log-format'], logFormats),
	});
	const progress = values.json ? undefined : new Progress(log, values['log-format'] === 'text');
	// Loaded once the command is right: --help and a wrong option are answered at once.
	const { startServer } = await import('../http/startServer.mts');
	const { url, ready, close } = await startServer({
		...{ ...options, log },
		onProgress: (done, total) => progress?.show(done, total),
	});
	serveUntilStopped(close, values.json ? ready.then(({ apiKey }) => ({ url, apiKey })) : undefined);
	const server = await ready.finally(() => progress?.stop());
	if (!values.json) console.log(describe(server, options.index, values));
}

type Values = ReturnType<typeof parse>['values'];

function parse(args: string[]) {
	return parseArgs({
		args,
		allowPositionals: true,
		options: {
			host: { type: 'string', default: '127.0.0.1' },
			port: { type: 'string', default: '8787' },
			index: { type: 'string' },
			'read-only': { type: 'boolean', default: false },
			'allow-delete': { type: 'boolean', default: false },
			'allow-changes': { type: 'boolean', default: false },
			'rate-limit': { type: 'string' },
			'embeddings-url': { type: 'string' },
			'embeddings-model': { type: 'string' },
			'trust-proxy': { type: 'string' },
			timezone: { type: 'string' },
			'allowed-hosts': { type: 'string', default: '' },
			'allow-http': { type: 'boolean', default: false },
			'log-level': { type: 'string', default: 'info' },
			'log-format': { type: 'string', default: 'text' },
			'chat-url': { type: 'string' },
			'chat-model': { type: 'string' },
			'transcription-url': { type: 'string' },
			'transcription-model': { type: 'string' },
			'transcription-language': { type: 'string' },
			'transcription-format': { type: 'string', default: 'mp3' },
			'diarization-url': { type: 'string' },
			'diarization-model': { type: 'string' },
			inbox: { type: 'string' },
			'inbox-copy': { type: 'boolean', default: false },
			'max-upload': { type: 'string', default: '2000' },
			'keep-originals': { type: 'boolean', default: false },
			json: { type: 'boolean', default: false },
			help: { type: 'boolean', short: 'h', default: false },
		},
	});
}

function readOptions(
	folder: string,
	values: Values,
	inboxTimes: InboxTimes | undefined,
): Omit<ServerOptions, 'log' | 'onProgress'> {
	for (const option of ['allow-delete', 'allow-changes'] as const) {
		if (values['read-only'] && values[option]) {
			throw new Error(`--read-only and --${option} can't be used together`);
		}
	}
	return {
		folder,
		host: values.host,
		port: wholeNumber('port', values.port, 0, 65_535),
		index: values.index ?? join(folder, '.lifelog-index.sqlite'),
		apiKey: keyFromEnvironment('LIFELOG_SERVER_KEY'),
		timezone: timezoneOf(values.timezone),
		allowedHosts: values['allowed-hosts']
			.toLowerCase()
			.split(/[\s,]+/)
			.filter(Boolean),
		allowHttp: values['allow-http'],
		allowDelete: values['allow-delete'],
		allowChanges: values['allow-changes'],
		embeddings: endpointOf('embeddings', values),
		chat: endpointOf('chat', values),
		transcription: transcriptionOf(values, inboxTimes),
		maxUploadBytes: wholeNumber('max-upload', values['max-upload'], 1, 1_000_000) * 1_000_000,
		rateLimit:
			values['rate-limit'] === undefined
				? undefined
				: wholeNumber('rate-limit', values['rate-limit'], 1, 1_000_000),
		trustProxy: values['trust-proxy'],
	};
}

/** How recordings become lifelogs; undefined if they don't. */
function transcriptionOf(
	values: Values,
	inboxTimes: InboxTimes | undefined,
): ServerOptions['transcription'] {
	const endpoint = endpointOf('transcription', values);
	const diarization = endpointOf('diarization', values);
	const format = oneOf('transcription-format', values['transcription-format'], [
		'mp3',
		'wav',
	] as const);
	for (const option of ['inbox', 'diarization-url', 'transcription-language'] as const) {
		if (values[option] !== undefined && !endpoint) {
			throw new Error(`--${option} needs --transcription-url and --transcription-model`);
		}
	}
	if (values['inbox-copy'] && values.inbox === undefined) {
		throw new Error('--inbox-copy needs --inbox');
	}
	if (values['read-only'] && values.inbox !== undefined) {
		throw new Error("--read-only and --inbox can't be used together");
	}
	return (
		endpoint && {
			...{ ...endpoint, format, language: values['transcription-language'], diarization },
			keepOriginals: values['keep-originals'],
			inbox: values.inbox,
			inboxIsCopied: values['inbox-copy'],
			inboxTimes,
		}
	);
}

/** An endpoint and the key for it; undefined without its address and model. */
function endpointOf(
	name: 'embeddings' | 'chat' | 'transcription' | 'diarization',
	values: Values,
): EndpointOptions | undefined {
	const { [`${name}-url` as const]: url, [`${name}-model` as const]: model } = values;
	if (url === undefined && model === undefined) return undefined;
	if (url === undefined || model === undefined) {
		throw new Error(`Use --${name}-url and --${name}-model together`);
	}
	const key = keyFromEnvironment(`LIFELOG_${name.toUpperCase()}_KEY`) || undefined;
	return { url, model, key };
}

/** A bar on a terminal, a line in a log. */
class Progress {
	readonly #log: Logger;
	readonly #hasBar: boolean;
	#bar: SingleBar | undefined;

	constructor(log: Logger, isText: boolean) {
		this.#log = log;
		this.#hasBar = isText && process.stderr.isTTY;
	}

	show(done: number, total: number): void {
		if (total === 0) return;
		if (done === 0) {
			if (!this.#hasBar) this.#log.info(`Indexing ${total} ${total === 1 ? 'day' : 'days'}`);
			this.#bar = new SingleBar({
				format: 'Indexing [{bar}] {value} of {total} days, {eta_formatted} left',
				hideCursor: true,
			});
			if (this.#hasBar) this.#bar.start(total, 0);
		}
		this.#bar?.update(done);
	}

	stop(): void {
		this.#bar?.stop();
	}
}

function describe(
	{ url, apiKey, isKeyNew, store, meaning, canChange }: RunningServer,
	index: string,
	values: Values,
): string {
	const { lifelogs, chats, audioFiles } = store.counts();
	const days = store.days();
	const key = isKeyNew
		? `${apiKey}   (made just now, and not shown again: keep it)`
		: apiKey === undefined
			? `the one that was printed at the first start (lost? delete ${index}.key, and start again)`
			: `the one in ${keySource('LIFELOG_SERVER_KEY')}`;
	const leftOut = days.reduce((sum, { problems }) => sum + Object.keys(problems).length, 0);
	const rows = [
		[
			'Address',
			EVERY_ADDRESS.includes(values.host) ? `${url}, and every other address of this machine` : url,
		],
		['API key', key],
		[
			'Data',
			[plural(lifelogs, 'lifelog'), plural(chats, 'chat'), plural(audioFiles, 'audio file')].join(
				', ',
			),
		],
		['Days', days.length === 0 ? noDays : `${days[0].day} to ${days.at(-1)!.day} (UTC)`],
		['Missing', listed(missingDays(days.map(({ day }) => day)))],
		['Not complete', listed(days.filter(({ isComplete }) => !isComplete).map(({ day }) => day))],
		[
			'In the future',
			listed(days.filter(({ archivedMs }) => isFuture(archivedMs)).map(({ day }) => day)),
		],
		['Left out', leftOut === 0 ? '' : `${plural(leftOut, 'file')}, missing or broken`],
		['Search', meaning?.describe() ?? 'full text (and meaning with --embeddings-url)'],
		[
			'Deleting',
			permission(
				values['allow-delete'],
				canChange,
				'deletes files of the archive',
				'--allow-delete',
			),
		],
		[
			'Changing',
			permission(values['allow-changes'], canChange, 'writes to the archive', '--allow-changes'),
		],
		['Recordings', recordingsRow(values)],
	];
	const lines = rows
		.filter(([, text]) => text !== '')
		.map(([name, text]) => `  ${name.padEnd(12)}  ${text}`);
	return `lifelog-server is running (Ctrl+C stops it).\n\n${lines.join('\n')}`;
}

function recordingsRow(values: Values): string {
	if (values['transcription-url'] === undefined) return 'off (needs --transcription-url)';
	const from = [
		...(values['allow-changes'] ? ['uploads'] : []),
		...(values.inbox === undefined ? [] : [values.inbox]),
	];
	return from.length === 0
		? 'off (needs --allow-changes or --inbox)'
		: `from ${from.join(' and ')}, transcribed by ${values['transcription-url']}`;
}

function permission(isAllowed: boolean, canChange: boolean, what: string, option: string): string {
	if (!isAllowed) return `off (turn on with ${option})`;
	return canChange ? `on: ${what}` : 'off: another lifelog-server may change this archive';
}

const noDays = `none yet (to add the app's export: ${commandName} import)`;

const MAX_LISTED = 10;

/** Days as ranges, the first ones of many. */
function listed(days: string[]): string {
	const ranges: [string, string][] = [];
	for (const day of days) {
		const open = ranges.at(-1);
		if (open && Date.parse(day) - Date.parse(open[1]) === DAY_MS) open[1] = day;
		else ranges.push([day, day]);
	}
	const shown = ranges
		.slice(0, MAX_LISTED)
		.map(([first, last]) => (first === last ? first : `${first} to ${last}`));
	const more = ranges.length > MAX_LISTED ? ` and ${ranges.length - MAX_LISTED} more ranges` : '';
	return days.length === 0 ? '' : `${days.length}: ${shown.join(', ')}${more}`;
}
