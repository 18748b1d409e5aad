// Checks everything a server needs before it starts, and reports all problems together.
import { dirname } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isLoopback } from '../../lifelog/addresses.ts';
import { Folder } from '../archive/folder.mts';
import { EmbeddingsEndpoint } from '../index/embeddings.mts';
import { checkFfmpeg } from '../recordings/ffmpeg.mts';
import type { InboxTimes } from '../recordings/inbox.mts';
import type { Models } from '../recordings/pipeline.mts';
import { ChatTitles } from '../recordings/title.mts';
import { Diarizer, Transcriber, type TranscriberOptions } from '../recordings/transcribe.mts';
import { asError } from '../util/errors.mts';
import { KeyError, keySource } from '../util/keySource.mts';
import type { EndpointOptions } from '../util/modelEndpoint.mts';
import { createApp } from './api.mts';
import { Access } from './auth/access.mts';
import { readAccessFile, type AccessFile } from './auth/accessFile.mts';
import { checkGivenKey, KEY_VARIABLE, SAFE_LENGTH } from './auth/key.mts';

/** Required files, keys and endpoints. */
export interface NeededOptions {
	/** Folder of the archive. */
	folder: string;
	host: string;
	/** File of the index. */
	index: string;
	/** The owner's key, accepted besides those created on the page. */
	apiKey: string | undefined;
	/** Embeddings endpoint for search by meaning. */
	embeddings: EndpointOptions | undefined;
	/** Chat endpoint that writes titles and headings of new lifelogs. */
	chat?: EndpointOptions;
	/** Converts recordings to lifelogs; without it, recordings are rejected. */
	transcription?: TranscriptionOptions;
	/** Addresses and networks of trusted proxies; by default none. */
	trustProxy: string | undefined;
	log: Logger;
}

/** How to convert recordings to lifelogs. */
export interface TranscriptionOptions extends TranscriberOptions {
	/** Endpoint that identifies speakers. */
	diarization?: EndpointOptions;
	/** Whether to keep uploaded files when they are done. */
	keepOriginals: boolean;
	/** A folder whose files become lifelogs. */
	inbox?: string;
	/** Whether files of the inbox are copied and stay in place. */
	inboxIsCopied: boolean;
	inboxTimes?: InboxTimes;
}

interface Prepared {
	folder: Folder;
	/** Keys and sessions. */
	access: AccessFile;
	titles: ChatTitles | undefined;
	/** Endpoints that transcribe recordings. */
	hearing: Models | undefined;
	endpoint: EmbeddingsEndpoint | undefined;
	app: FastifyInstance;
}

/** Opens everything a server needs. @throws Error with a line for each problem, which says what to do. */
export async function prepare(options: NeededOptions): Promise<Prepared> {
	const { chat, embeddings, transcription } = options;
	const problems: string[] = [];
	const attempt = async <Result,>(work: () => Promise<Result> | Result) => {
		try {
			return await work();
		} catch (error) {
			problems.push(asError(error).message);
		}
	};
	const folder = await attempt(() => openFolder(options));
	await attempt(() => requireIndexFolder(options));
	const titles = await attempt(() => chat && new ChatTitles(chat));
	const hearing = await attempt(() => transcription && hearingOf(transcription));
	if (transcription) await attempt(checkFfmpeg);
	const endpoint = await attempt(() => embeddings && new EmbeddingsEndpoint(embeddings));
	const app = await attempt(() => appOf(options));
	const access = folder && (await attempt(() => accessOf(options)));
	if (problems.length > 0) throw new Error(problems.join('\n'));
	return { folder: folder!, access: access!, titles, hearing, endpoint, app: app! };
}

async function openFolder({ folder }: NeededOptions): Promise<Folder> {
	return await Folder.open(folder).catch((error: unknown) => {
		const { code = 'ENOENT' } = asError(error);
		throw new Error(
			/^(ENOENT|ENOTDIR)$/.test(code)
				? `There is no folder ${folder}: check its name, or make it with ${makeFolder(folder)}`
				: `The folder ${folder} can't be opened (${code}): let the user who runs the server read it, and enter each folder above it`,
		);
	});
}

/** The command that creates a folder and its parents. */
const makeFolder = (folder: string) =>
	`mkdir ${process.platform === 'win32' ? '' : '-p '}"${folder}"`;

async function requireIndexFolder({ folder, index }: NeededOptions): Promise<void> {
	// The archive's missing folder is already reported.
	if (dirname(index) === folder) return;
	await Folder.open(dirname(index)).catch(() => {
		throw new Error(`There is no folder for the index ${index}: choose another file with --index`);
	});
}

function hearingOf(options: TranscriptionOptions): Models {
	const { diarization } = options;
	return {
		transcriber: new Transcriber(options),
		diarizer: diarization && new Diarizer(diarization),
	};
}

function accessOf({ apiKey, index, host }: NeededOptions): AccessFile {
	if (apiKey !== undefined) checkGivenKey(apiKey);
	if (!isLoopback(host) && apiKey !== undefined && apiKey.length < SAFE_LENGTH) {
		throw new KeyError(
			`To serve other machines (--host ${host}), the key in ${keySource(KEY_VARIABLE)} needs ${SAFE_LENGTH} characters or more: set a longer one, or remove the variable and make one on the page`,
		);
	}
	return readAccessFile(Access.fileOf(index));
}

function appOf({ log, trustProxy }: NeededOptions): FastifyInstance {
	try {
		return createApp({
			// Only Fastify's errors: its other startup messages don't help users.
			loggerInstance: log.child({}, { level: 'error' }) as FastifyBaseLogger,
			childLoggerFactory: (_ofApp, bindings, options) => log.child(bindings, options),
			trustProxy,
		});
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw new Error(
			'--trust-proxy must be addresses or networks of proxies, such as 127.0.0.1 or 172.16.0.0/12',
		);
	}
}
