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

/** Dependencies of the routes. All of it may change while they are served. */
export interface Service {
	/** Name in challenges and in the server's own errors. */
	readonly name: string;
	/** Target of `GET /`. */
	readonly documentation: string;
	/** The archive. Throws an UnavailableError (503) while it can't be served. */
	readonly current: () => Store;
	/** Creates and changes lifelogs. Only needed by a contract with such operations. */
	readonly maker?: Maker;
	/** Converts recordings to lifelogs; without it, recordings are rejected. */
	readonly recordings?: { intake: Intake; jobs: Jobs };
	/** The recording of a lifelog; undefined if it wasn't made from one. */
	readonly recordingOf?: (id: string) => Queued | undefined;
	/** Deletes a lifelog with `remove`, and what is known of its words outside of the archive. */
	readonly deleteLifelog?: (id: string, remove: () => Promise<boolean>) => Promise<boolean>;
	/** Writes titles and headings of existing lifelogs; missing without a chat endpoint. */
	readonly later?: LaterTitles;
	/** Notifies webhooks; without it, their routes don't exist. */
	readonly events?: Events;
	/** Maximum size of an uploaded recording, in bytes; missing without uploads. */
	readonly maxUploadBytes?: number;
	/** Whether there is an inbox, so that recordings are listed even without --allow-changes. */
	readonly hasInbox?: boolean;
	/** Whether recordings can be deleted. */
	readonly allowDelete?: boolean;
	/** Maximum requests per key in a sliding window of `windowMs` milliseconds; by default unlimited. */
	readonly rateLimit?: { max: number; windowMs: number };
	/** The requests that count for the limit. */
	readonly rateLimits?: SlidingLog;
	/** Tools of the MCP server. Loaded with the first message, because most servers never get one. */
	readonly tools: () => Promise<Tool[]>;
	/** The owner of a key; undefined if it isn't accepted. */
	visitorOfKey: (key: string) => Visitor | undefined;
	/** The signed-in user; undefined without a session. Only lifelog-server has sessions. */
	visitorOfSession?: (request: FastifyRequest) => Visitor | undefined;
	/** Sends a browser a page for an unknown path; returns undefined for other clients. */
	showNotFound?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
	/** The service's time in milliseconds. */
	now: () => number;
}

/** Registers a tool with an MCP server, for one request to a service. */
export type Tool = (server: McpServer, service: Service, request: FastifyRequest) => void;
