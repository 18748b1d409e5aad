// A local server with the chat-completions interface of OpenAI that says what a script tells it to.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { IDataObject } from 'n8n-workflow';
import { asError } from '../../../server/util/errors.mts';

/** A message of the conversation so far. */
export interface ChatMessage {
	role: 'system' | 'user' | 'assistant' | 'tool';
	content: string;
}

/** What a model is told of a tool. */
export interface ToolOffer {
	name: string;
	description: string;
	parameters: { properties: Record<string, IDataObject>; required?: string[] };
}

/** What the model is asked. */
export interface ModelRequest {
	messages: ChatMessage[];
	tools: ToolOffer[];
}

/** What the model says: a text, or the call of a tool. */
export type ModelAnswer = string | { tool: string; args: IDataObject };

/** The model's answers in order, each from what it was asked. */
export type Script = Array<(request: ModelRequest) => ModelAnswer>;

/** A running server. */
export interface ScriptedModel {
	/** The base URL to give to an OpenAI client. */
	url: string;
	/** Begins a script; forgets the requests of the one before. */
	play: (script: Script) => void;
	/** The requests since the script began. */
	requests: () => ModelRequest[];
	close: () => Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startScriptedModel(): Promise<ScriptedModel> {
	let script: Script = [];
	let requests: ModelRequest[] = [];
	const server = createServer((incoming, outgoing) => {
		answer(incoming).then(
			(body) => outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
			(error: unknown) => {
				outgoing.statusCode = 400;
				outgoing.end(JSON.stringify({ error: { message: asError(error).message } }));
			},
		);
	});
	const answer = async (incoming: IncomingMessage): Promise<IDataObject> => {
		const body = (await json(incoming)) as {
			messages: ChatMessage[];
			tools?: Array<{ function: ToolOffer }>;
		};
		const tools = (body.tools ?? []).map((tool) => tool.function);
		const request = { messages: body.messages, tools };
		const next = script[requests.length];
		requests.push(request);
		if (!next) throw new Error('The script is at its end');
		return completion(next(request), requests.length);
	};
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		play: (next) => {
			script = next;
			requests = [];
		},
		requests: () => requests,
		close: async () => {
			server.closeAllConnections();
			await once(server.close(), 'close');
		},
	};
}

function completion(answer: ModelAnswer, index: number): IDataObject {
	const isText = typeof answer === 'string';
	const message = isText
		? { role: 'assistant', content: answer }
		: {
				role: 'assistant',
				content: null,
				tool_calls: [
					{
						id: `call_${index}`,
						type: 'function',
						function: { name: answer.tool, arguments: JSON.stringify(answer.args) },
					},
				],
			};
	return {
		id: `completion-${index}`,
		object: 'chat.completion',
		created: 1_772_323_200,
		model: 'scripted',
		choices: [{ index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}
