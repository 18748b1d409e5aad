// lifelog-server serve: options and startup messages.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import isInsideContainer from 'is-inside-container';
import type { Logger } from 'pino';
import { read } from 'read';
import { CannotStart, commandName, serveUntilStopped, throwIfAny } from '../util/commandLine.mts';
import { isFuture } from '../archive/layout.mts';
import { asError } from '../util/errors.mts';
import { keyFromEnvironment, keySource } from '../util/keySource.mts';
import { plural, printable } from '../util/text.mts';
import { openLog } from '../http/log.mts';
import { EVERY_ADDRESS } from '../http/auth/hosts.mts';
import { KEY_VARIABLE } from '../http/auth/key.mts';
import { LINK_MINUTES } from '../http/auth/link.mts';
import { missingDays } from '../http/missingDays.mts';
import type { EndpointOptions, EndpointState } from '../util/modelEndpoint.mts';
import type { InboxTimes } from '../recordings/inbox.mts';
import type { RunningServer, ServerOptions } from '../http/startServer.mts';
import { DAY_MS } from '../util/durations.mts';
import {
	defaultIndex,
	describeConfig,
	type Given,
	readCommand,
	timezoneOr,
	type Values,
} from '../util/options.mts';
import { REQUESTS_PER_MINUTE, serve as declared, unknownOnes } from './commands.mts';
import type { SignIn } from './signInByLink.mts';

type ServeValues = Values<typeof declared.options> & { index: string; timezone: string };

/**
 * Runs `lifelog-server serve` until the process is told to stop.
 *
 * @throws Error with the reason if it can't start.
 */
export async function serveCommand(args: string[], inboxTimes?: InboxTimes): Promise<void> {
	const given = readCommand(declared, args);
	if (!given) return;
	const { problems, operands } = given;
	const values = {
		...given.values,
		index: given.values.index ?? defaultIndex(operands[0] ?? ''),
		timezone: timezoneOr(given.values.timezone),
	};
	const options = readOptions(operands[0] ?? '', { ...given, values }, inboxTimes);
	const log = openLog({ level: values.logLevel, format: values.logFormat });
	const unknown = unknownOnes();
	if (values.printConfig) {
		for (const line of unknown) process.stderr.write(`${printable(line)}\n`);
		throwIfAny(problems);
		console.log(describeConfig(declared, { ...given, values }));
		return;
	}
	for (const line of unknown) log.warn(line);
	// Loaded only now, because the help and the configuration don't need it.
	const { startServer } = await import('../http/startServer.mts');
	if (problems.length > 0) {
		// Report other problems at the same time.
		const { prepare } = await import('../http/prepare.mts');
		const also = operands[0] ? await prepare({ ...options, log }).then(() => [], linesOf) : [];
		throwIfAny([...problems, ...also]);
	}
	if (isTerminal(values)) await offerFolder(options.folder);
	const progress = values.json ? undefined : new Progress(log, values.logFormat === 'text');
	const { url, ready, close } = await startServer({
		...{ ...options, log },
		makesKey: values.json,
		onProgress: (done, total) => progress?.show(done, total),
	});
	serveUntilStopped(close, values.json ? ready.then(({ apiKey }) => ({ url, apiKey })) : undefined);
	const server = await ready.finally(() => progress?.stop());
	if (values.json) return;
	const signIn =
		server.hasPage && isTerminal(values)
			? await (
					await import('./signInByLink.mts')
				).signInByLink(server, options.index, !values.noOpen)
			: undefined;
	console.log(describe(server, options.folder, values, signIn, await server.endpoints.states()));
}

/** Whether the output is a terminal where a question can be answered. */
const isTerminal = ({ json }: ServeValues) => !json && process.stdin.isTTY && process.stdout.isTTY;

/** Offers to create a missing folder. @throws CannotStart if the user declines. */
async function offerFolder(folder: string): Promise<void> {
	if (existsSync(folder)) return;
	const prompt = `There is no folder ${printable(folder)}. Make it, and serve an empty archive? (y/n)`;
	const answer = await read({ prompt }).catch(() => '');
	if (!/^y(es)?$/i.test(answer.trim())) throw new CannotStart('No folder was made');
	await mkdir(folder, { recursive: true });
}

const linesOf = (error: unknown) => asError(error).message.split('\n');

const NEED_TRANSCRIPTION = [
	'inbox',
	'diarizationUrl',
	'transcriptionLanguage',
	'transcriptionPrompt',
] as const;

/** Values of the options. Contradictions are added to the problems. */
function readOptions(
	folder: string,
	{ values, problems, sourceOf }: Given<typeof declared.options> & { values: ServeValues },
	inboxTimes: InboxTimes | undefined,
): Omit<ServerOptions, 'log' | 'onProgress'> {
	const keyFrom = (variable: string) => {
		try {
			return keyFromEnvironment(variable);
		} catch (error) {
			problems.push(asError(error).message);
		}
	};
	/** An endpoint and its key; undefined without address and model. */
	const endpointOf = (
		name: 'embeddings' | 'chat' | 'transcription' | 'diarization',
	): EndpointOptions | undefined => {
		const { [`${name}Url` as const]: url, [`${name}Model` as const]: model } = values;
		const isGiven = (option: 'Url' | 'Model') => sourceOf(`${name}${option}`) !== undefined;
		if (isGiven('Url') !== isGiven('Model')) {
			problems.push(`Use --${name}-url and --${name}-model together`);
		}
		const key = keyFrom(`LIFELOG_${name.toUpperCase()}_KEY`) || undefined;
		return url === undefined || model === undefined ? undefined : { url, model, key };
	};
	const endpoint = endpointOf('transcription');
	const diarization = endpointOf('diarization');
	if (sourceOf('transcriptionUrl') === undefined && sourceOf('transcriptionModel') === undefined) {
		for (const name of NEED_TRANSCRIPTION) {
			if (sourceOf(name) === undefined) continue;
			problems.push(`${sourceOf(name)} needs --transcription-url and --transcription-model`);
		}
	}
	if (values.inboxCopy && values.inbox === undefined) {
		problems.push(`${sourceOf('inboxCopy')} needs --inbox`);
	}
	return {
		folder,
		...{ host: values.host, port: values.port, trustProxy: values.trustProxy },
		index: values.index,
		apiKey: keyFrom(KEY_VARIABLE),
		timezone: values.timezone,
		...{ allowedHosts: values.allowedHosts, allowHttp: values.allowHttp },
		publicUrl: values.publicUrl,
		...{ allowDelete: values.allowDelete, allowChanges: values.allowChanges },
		...{ embeddings: endpointOf('embeddings'), chat: endpointOf('chat') },
		transcription: endpoint && {
			...{ ...endpoint, diarization, inboxTimes },
			...{ format: values.transcriptionFormat, language: values.transcriptionLanguage },
			prompt: values.transcriptionPrompt,
			keepOriginals: values.keepOriginals,
			...{ inbox: values.inbox, inboxIsCopied: values.inboxCopy },
		},
		webhooks: !values.noWebhooks,
		webhookPauses: values.webhookPauses,
		archiving: values.readOnly
			? undefined
			: { url: values.serviceUrl, requestsPerMinute: REQUESTS_PER_MINUTE },
		maxUploadBytes: values.maxUpload * 1_000_000,
		rateLimit: values.rateLimit,
	};
}

/** A progress bar on a terminal, lines in a log. */
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
	{ url, access, hasPage, store, meaning, canChange }: RunningServer,
	folder: string,
	values: ServeValues,
	signIn: SignIn | undefined,
	endpoints: EndpointState[],
): string {
	const { lifelogs, chats, audioFiles } = store.counts();
	const days = store.days();
	const given = access.keys.some(({ id }) => access.isGiven(id));
	const made = access.keys.length - Number(given);
	const keys = [
		...(given ? [`the one in ${keySource(KEY_VARIABLE)}`] : []),
		...(made > 0 ? [`${made} made on the page`] : []),
	];
	const leftOut = days.reduce((sum, { problems }) => sum + Object.keys(problems).length, 0);
	const rows = [
		[
			'Address',
			EVERY_ADDRESS.includes(values.host) ? `${url}, and every other address of this machine` : url,
		],
		[
			'Sign in',
			hasPage
				? signInRow(folder, values.index, signIn)
				: 'the page is not built (npm run build:web)',
		],
		[
			made > 1 ? 'API keys' : 'API key',
			keys.join(', and ') || 'none yet (make one on the page, under Connect)',
		],
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
			permission(values.allowDelete, canChange, 'deletes files of the archive', '--allow-delete'),
		],
		[
			'Changing',
			permission(values.allowChanges, canChange, 'writes to the archive', '--allow-changes'),
		],
		['Recordings', recordingsRow(values)],
		...endpoints.map(({ name, host, model, text }) => [name, `${host}, ${model}: ${text}`]),
	];
	const shown = rows.filter(([, text]) => text !== '');
	const width = Math.max(12, ...shown.map(([name]) => name.length));
	const lines = shown.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
	return `lifelog-server is running (Ctrl+C stops it).\n\n${lines.join('\n')}`;
}

/** Shows a link only in a terminal, because other output may be stored. */
function signInRow(folder: string, index: string, signIn: SignIn | undefined): string {
	if (signIn) {
		const where = signIn.isOpened ? ', open in your browser' : '';
		return `${signIn.address}   (once, within ${LINK_MINUTES} minutes${where})`;
	}
	const command = `${commandName} link "${folder}"`;
	// The image sets the index by a variable, and isn't a checkout.
	if (isInsideContainer() && commandName === 'lifelog-server') {
		return `make a link: docker compose exec lifelog-server ${command}`;
	}
	const more = index === defaultIndex(folder) ? '' : ` --index "${index}"`;
	return `make a link: ${command}${more}`;
}

function recordingsRow(values: ServeValues): string {
	if (values.transcriptionUrl === undefined) return 'off (needs --transcription-url)';
	const from = [
		...(values.allowChanges ? ['uploads'] : []),
		...(values.inbox === undefined ? [] : [values.inbox]),
	];
	return from.length === 0
		? 'off (needs --allow-changes or --inbox)'
		: `from ${from.join(' and ')}, transcribed by ${values.transcriptionUrl}`;
}

function permission(isAllowed: boolean, canChange: boolean, what: string, option: string): string {
	if (!isAllowed) return `off (turn on with ${option})`;
	return canChange ? `on: ${what}` : 'off: another lifelog-server may change this archive';
}

const noDays = 'none yet (to add some, open the address in a browser)';

const MAX_LISTED = 10;

/** Days as ranges; only the first ranges. */
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
