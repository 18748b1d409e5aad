// All commands and options. docs/reference/options.md is generated from them.
import { LIMITLESS_URL } from '../../lifelog/limitless.ts';
import type { Kind } from '../backup/plan.mts';
import type { LogOptions } from '../http/log.mts';
import { commandName } from '../util/commandLine.mts';
import {
	type DeclaredCommand,
	day,
	group,
	oneOf,
	option,
	type Options,
	someOf,
	text,
	timezone,
	toggle,
	unknownVariables,
	wholeNumber,
	withoutVariables,
} from '../util/options.mts';
import {
	endpointAddress,
	pauses,
	publicAddress,
	serviceAddress,
	words,
	wordsToExpect,
} from './readers.mts';

const command = <Some extends Options>(
	declared: DeclaredCommand<Some> & { exclusive: [keyof Some, keyof Some][] },
): DeclaredCommand<Some> => declared;

const url = option('--url <address>', 'the service', serviceAddress, {
	...{ variable: 'LIFELOG_BASE_URL', fallback: LIMITLESS_URL },
});
/** The service allows 180 per key. */
export const REQUESTS_PER_MINUTE = 150;
const API_KEY = 'the key of the service; without it, the command asks for it';
const zoneOfTimes = option(
	'--timezone <name>',
	"zone of times in Markdown, such as Europe/Berlin (the system's by default)",
	timezone,
);

export const archive = command({
	name: 'archive',
	operands: '<folder>',
	operandsAre: 'the folder of the archive',
	about: 'save everything that the service has',
	description:
		'Saves everything that the service has, lifelogs, chats and audio, in a folder. Run it again at any time: it reads only what is new, changed or missing. Ctrl+C stops it, and the next run continues.',
	options: {
		...group('What to archive', {
			only: option(
				'--only <kinds>',
				'what to archive: one or more of these',
				someOf<Kind>('lifelogs', 'chats', 'audio'),
				{
					fallback: 'lifelogs,chats,audio',
				},
			),
			from: option(
				'--from <day>',
				'the first day, such as 2025-01-31 (the first day there is by default)',
				day,
			),
			to: option('--to <day>', 'the last day, in UTC (yesterday by default)', day),
			again: option(
				'--again <day>',
				'read the lifelogs and chats of a day again, such as after a speaker was renamed',
				day,
			),
		}),
		...group('Order and times', {
			oldestFirst: toggle('--oldest-first', 'begin with the oldest day, as by default'),
			newestFirst: toggle('--newest-first', 'begin with the newest day'),
			timezone: zoneOfTimes,
			watch: option(
				'--watch <minutes>',
				'keep running: check today and the last 31 days at this interval, and everything once a week',
				wholeNumber(1, 10_080),
			),
		}),
		...group('Service', {
			url,
			rateLimit: option(
				'--rate-limit <n>',
				'requests a minute; the service allows 180 for each key',
				wholeNumber(1, 1_000_000),
				{ variable: 'LIFELOG_ARCHIVE_RATE_LIMIT', fallback: String(REQUESTS_PER_MINUTE) },
			),
		}),
		...group('Run and output', {
			force: toggle(
				'--force',
				'start even if Full archive in n8n seems to be writing to the folder',
			),
			json: toggle('--json', 'print one line of JSON for each event', 'LIFELOG_ARCHIVE_JSON'),
			quiet: toggle('--quiet', 'print only problems'),
		}),
	},
	secrets: { LIFELOG_API_KEY: API_KEY },
	exclusive: [
		['oldestFirst', 'newestFirst'],
		['again', 'watch'],
	],
	exitCodes: 'Exit code: 0 everything is archived, 1 something is missing, 2 it could not start.\n',
});

const MODEL = 'its model';

const index = option(
	'--index <file>',
	'index file (.lifelog-index.sqlite in the folder by default); if you delete it, it is built again',
	text,
);

export const serve = command({
	name: 'serve',
	operands: '<folder>',
	operandsAre: 'the folder of the archive',
	about: "serve an archive through the service's API",
	description: "Serves an archive of lifelogs through the service's API.",
	options: {
		...group('Network', {
			host: option(
				'--host <name>',
				'address to serve on: only this machine by default, 0.0.0.0 for every network',
				text,
				{ fallback: '127.0.0.1' },
			),
			port: option('--port <n>', 'port, 0 for any free one', wholeNumber(0, 65_535), {
				fallback: '8787',
			}),
			allowedHosts: option(
				'--allowed-hosts <names>',
				'names by which browsers may call the server, such as lifelogs.example.org',
				words,
				{ fallback: '' },
			),
			allowHttp: toggle(
				'--allow-http',
				'show the page over HTTP to other machines, in a network that you trust',
			),
			publicUrl: option(
				'--public-url <origin>',
				'address by which browsers reach the server, such as https://lifelogs.example.org. Its name is allowed',
				publicAddress,
			),
			trustProxy: option(
				'--trust-proxy <addresses>',
				"proxies that report the client's address, such as 127.0.0.1,172.16.0.0/12",
				text,
			),
			rateLimit: option(
				'--rate-limit <n>',
				'maximum requests a minute (no limit by default)',
				wholeNumber(1, 1_000_000),
				{ variable: 'LIFELOG_SERVE_RATE_LIMIT' },
			),
		}),
		...group('Archive and changes', {
			index,
			readOnly: toggle(
				'--read-only',
				'refuse to delete and to change, as by default, and to archive or import on the page',
			),
			allowChanges: toggle('--allow-changes', 'create and change lifelogs in the archive'),
			allowDelete: toggle(
				'--allow-delete',
				'delete files of the archive when a lifelog or a chat is deleted',
			),
			serviceUrl: option(
				'--service-url <address>',
				'the service that you can archive on the page',
				serviceAddress,
				{ fallback: LIMITLESS_URL },
			),
			timezone: option(
				'--timezone <name>',
				"zone of the page's days, of names of recordings and of times in new Markdown (the system's by default)",
				timezone,
			),
		}),
		...group('Recordings', {
			transcriptionUrl: option(
				'--transcription-url <address>',
				'turn recordings into lifelogs: their audio is sent to this OpenAI-compatible endpoint. Needs ffmpeg, and --allow-changes for uploads',
				endpointAddress('LIFELOG_TRANSCRIPTION_KEY'),
			),
			transcriptionModel: option('--transcription-model <name>', MODEL, text),
			transcriptionLanguage: option(
				'--transcription-language <code>',
				'spoken language, such as de (detected by default)',
				text,
			),
			transcriptionPrompt: option(
				'--transcription-prompt <words>',
				'words to expect, such as names, up to 400 characters. The transcription endpoint gets them',
				wordsToExpect,
			),
			transcriptionFormat: option(
				'--transcription-format <name>',
				'format that is sent: mp3 or wav',
				oneOf('mp3', 'wav'),
				{ fallback: 'mp3' },
			),
			diarizationUrl: option(
				'--diarization-url <address>',
				'also ask this endpoint who speaks',
				endpointAddress('LIFELOG_DIARIZATION_KEY'),
			),
			diarizationModel: option('--diarization-model <name>', MODEL, text),
			inbox: option(
				'--inbox <folder>',
				'turn the audio files in this folder into lifelogs, then move them to its folder done/, or to failed/ with the reason',
				text,
			),
			inboxCopy: toggle('--inbox-copy', 'leave the files of the inbox where they are'),
			maxUpload: option(
				'--max-upload <n>',
				'maximum size of an uploaded recording, in MB',
				wholeNumber(1, 1_000_000),
				{ fallback: '2000' },
			),
			keepOriginals: toggle(
				'--keep-originals',
				'keep uploaded files in originals/ of the archive when they are done',
			),
		}),
		...group('Other models', {
			chatUrl: option(
				'--chat-url <address>',
				'write title and headings of new lifelogs: their words are sent to this OpenAI-compatible endpoint',
				endpointAddress('LIFELOG_CHAT_KEY'),
			),
			chatModel: option('--chat-model <name>', MODEL, text),
			embeddingsUrl: option(
				'--embeddings-url <address>',
				'also search by meaning: the words of all lifelogs and searches are sent to this OpenAI-compatible endpoint',
				endpointAddress('LIFELOG_EMBEDDINGS_KEY'),
			),
			embeddingsModel: option('--embeddings-model <name>', MODEL, text),
		}),
		...group('Events', {
			noWebhooks: toggle('--no-webhooks', 'send nothing to webhooks, and keep no events'),
			webhookPauses: option(
				'--webhook-pauses <seconds>',
				'pauses between the ten attempts of a delivery, such as 1,1,5 for tests; the last one is repeated (75 hours in all by default)',
				pauses,
			),
		}),
		...group('Log and output', {
			logLevel: option(
				'--log-level <level>',
				'what is logged: error, warn, info or debug, which has a line for each request',
				oneOf<LogOptions['level']>('error', 'warn', 'info', 'debug'),
				{ fallback: 'info' },
			),
			logFormat: option(
				'--log-format <format>',
				'how it is written: text or json',
				oneOf<LogOptions['format']>('text', 'json'),
				{ fallback: 'text' },
			),
			json: toggle(
				'--json',
				'print one line of JSON when ready; stop when stdin closes',
				'LIFELOG_SERVE_JSON',
			),
			noOpen: toggle('--no-open', 'open no browser when the server is started in a terminal'),
			...withoutVariables({
				printConfig: toggle(
					'--print-config',
					'print the value of each option and where it is from, then end',
				),
			}),
		}),
	},
	secrets: {
		LIFELOG_SERVER_KEY: 'an API key to accept, beside those that you make on the page',
		LIFELOG_TRANSCRIPTION_KEY: 'the key of the transcription endpoint, if it needs one',
		LIFELOG_DIARIZATION_KEY: 'the key of the diarization endpoint, if it needs one',
		LIFELOG_CHAT_KEY: 'the key of the chat endpoint, if it needs one',
		LIFELOG_EMBEDDINGS_KEY: 'the key of the embeddings endpoint, if it needs one',
	},
	exclusive: [
		['readOnly', 'allowDelete'],
		['readOnly', 'allowChanges'],
		['readOnly', 'inbox'],
	],
	exitCodes: 'Exit code: 0 it was stopped, 2 it could not start.\n',
});

export const check = command({
	name: 'check',
	operands: '<folder>',
	operandsAre: 'the folder of the archive',
	about: 'compare every file of an archive with its checksum',
	description:
		'Compares every file of an archive (docs/reference/archive.md) with its size and SHA-256, and lists what is missing, broken, left over or incomplete. With --service it also lists what is new, changed or gone at the service.',
	options: {
		...group('Service', {
			service: toggle('--service', 'compare with the service'),
			url,
			until: option(
				'--until <day>',
				'the last day to compare with the service, in UTC (yesterday by default)',
				day,
			),
		}),
		...group('Output', {
			json: toggle('--json', 'print one report as JSON', 'LIFELOG_CHECK_JSON'),
		}),
	},
	secrets: { LIFELOG_API_KEY: API_KEY },
	exclusive: [],
	exitCodes: 'Exit code: 0 nothing found, 1 something found, 2 not checked.\n',
});

const importExport = command({
	name: 'import',
	operands: '<export> <archive>',
	operandsAre: 'the export and the archive',
	about: "convert the app's export into an archive, or add it to one",
	description:
		"Adds the service's own export, or files of Export Lifelogs, to an archive: a zip or a folder. What is already in the archive stays as it is, and what was deleted from it isn't added again. So you can import the same export again.",
	options: group('Output', {
		timezone: zoneOfTimes,
		json: toggle('--json', 'print one report as JSON', 'LIFELOG_IMPORT_JSON'),
	}),
	secrets: {},
	exclusive: [],
	exitCodes: 'Exit code: 0 everything was read, 1 something was not, 2 nothing was imported.\n',
});
export { importExport as import };

export const exportCommand = command({
	name: 'export',
	operands: '<archive> <folder>',
	operandsAre: 'the archive and the folder to write to',
	about: 'write lifelogs as Markdown files for people, such as for Obsidian',
	description:
		'Writes each lifelog of an archive as a Markdown file into another folder, with your titles and names. Run it again at any time: it writes only what is new or has changed. A file that you changed stays, and no other file of the folder is touched. A server can be running.',
	options: {
		...group('What to write', {
			form: option(
				'--form <form>',
				"markdown, or app-export: app-export.zip in the form of the app's own export, for tools such as Omi",
				oneOf('markdown', 'app-export'),
				{ variable: 'LIFELOG_EXPORT_FORM', fallback: 'markdown' },
			),
			audio: toggle(
				'--audio',
				'also write the audio of each lifelog, beside its Markdown',
				'LIFELOG_EXPORT_AUDIO',
			),
			timezone: option(
				'--timezone <name>',
				"zone of times and names, such as Europe/Berlin (the system's by default). app-export is in UTC",
				timezone,
			),
		}),
		...group('Output', {
			json: toggle('--json', 'print one report as JSON', 'LIFELOG_EXPORT_JSON'),
		}),
	},
	secrets: {},
	exclusive: [],
	exitCodes:
		'Exit code: 0 everything is exported, or stays because you changed it, 1 something is not, 2 it could not start.\n',
});

export const link = command({
	name: 'link',
	operands: '<folder>',
	operandsAre: 'the folder of the archive',
	about: 'make a link that signs a browser in',
	description:
		'Makes a link that signs one browser in to the page of a server, once, within 15 minutes. It takes the place of the link before. Run it as the user who runs the server.',
	options: group('Options', { index }),
	secrets: {},
	exclusive: [],
	exitCodes: 'Exit code: 0 a link was made, 2 none was.\n',
});

/** All commands, in the order of the help. */
export const COMMANDS: DeclaredCommand[] = [
	...[archive, serve, check, importExport, exportCommand, link],
];

/** The help of `lifelog-server` itself. */
export function overview(): string {
	const rows = COMMANDS.map((each) => [`${each.name} ${each.operands}`, each.about]);
	const width = Math.max(...rows.map(([usage]) => usage.length));
	const lines = rows.map(([usage, about]) => `  ${usage.padEnd(width)}   ${about}`);
	return `Usage: ${commandName} <command> <folder> [options]

${lines.join('\n')}

A folder without a command is served. If a folder has the name of a command, write ./archive, for example.
${commandName} <command> --help lists the options; --version prints the version.

Exit code: 0 complete, 1 something is missing or wrong, 2 it could not start.
`;
}

/** Warnings about environment variables that no command knows. */
export const unknownOnes = () => unknownVariables(COMMANDS);
