import type { FastifyReply, FastifyRequest } from 'fastify';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Maker } from '../recordings/makeLifelog.mts';
import type { Intake } from '../recordings/intake.mts';
import type { Jobs } from '../recordings/jobs.mts';
import type { LaterTitles } from '../recordings/laterTitles.mts';
import type { Queued } from '../recordings/queue.mts';
import type { Events } from '../events/events.mts';
import type { Visitor } from './auth/access.mts';
import type { SlidingLog } from './slidingLog.mts';
import type { Store } from '../index/store.mts';

/** What the routes answer from. All of it may change while they are served. */
export interface Service {
	/** Its name in challenges and in errors of its own. */
	readonly name: string;
	/** Where `GET /` leads. */
	readonly documentation: string;
	/** The archive. Throws an UnavailableError (503) while it can't be served. */
	readonly current: () => Store;
	/** What makes and changes lifelogs. Only a contract that has such operations needs it. */
	readonly maker?: Maker;
	/** What turns recordings into lifelogs; without it they are refused. */
	readonly recordings?: { intake: Intake; jobs: Jobs };
	/** The recording that a lifelog was made of; undefined if it wasn't. */
	readonly recordingOf?: (id: string) => Queued | undefined;
	/** Called after a lifelog was deleted. */
	readonly onDeleted?: (id: string) => Promise<void>;
	/** Writes titles and headings of lifelogs that are there; missing without a chat endpoint. */
	readonly later?: LaterTitles;
	/** Tells webhooks what happens; without it their routes aren't there. */
	readonly events?: Events;
	/** The largest recording that is uploaded, in bytes; missing where none is. */
	readonly maxUploadBytes?: number;
	/** Whether recordings come from an inbox, too, so that they are listed without --allow-changes. */
	readonly hasInbox?: boolean;
	/** Whether a recording may be dropped. */
	readonly allowDelete?: boolean;
	/** Requests per key in a sliding window of `windowMs` milliseconds; without it there is no limit. */
	readonly rateLimit?: { max: number; windowMs: number };
	/** The requests that count against it. */
	readonly rateLimits?: SlidingLog;
	/** What its MCP server offers. Loaded with the first message: most servers never get one. */
	readonly tools: () => Promise<Tool[]>;
	/** Who has a key; undefined for one that isn't accepted. */
	visitorOfKey: (key: string) => Visitor | undefined;
	/** Who has signed in; undefined for nobody. Only lifelog-server has sessions. */
	visitorOfSession?: (request: FastifyRequest) => Visitor | undefined;
	/** Sends a page for an unknown address to a browser; returns undefined for any other client. */
	showNotFound?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
	/** The service's time in milliseconds. */
	now: () => number;
}

/** Registers a tool with an MCP server, to answer a request from a service. */
export type Tool = (server: McpServer, service: Service, request: FastifyRequest) => void;
