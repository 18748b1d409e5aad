import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a chat endpoint was asked. */
export interface ChatAsked {
	model: string;
	messages: { role: string; content: string }[];
	response_format: { type: string; json_schema: { schema: object } };
	authorization: string | undefined;
}

/** A chat endpoint of the OpenAI form. */
export interface ChatEndpoint {
	/** Without `/chat/completions`. */
	url: string;
	asked: ChatAsked[];
	/** What the model says; an object is said as JSON. */
	says: unknown;
	/** Answers instead. */
	instead: ((response: ServerResponse) => void) | undefined;
	close: () => Promise<void>;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startChat(): Promise<ChatEndpoint> {
	const server = createServer(async (request, response) => {
		// It has no list of models.
		if (request.method === 'GET') return response.writeHead(404).end();
		const body = JSON.parse(await text(request)) as ChatAsked;
		chat.asked.push({ ...body, authorization: request.headers.authorization });
		if (chat.instead) return chat.instead(response);
		const content = typeof chat.says === 'string' ? chat.says : JSON.stringify(chat.says);
		response.writeHead(request.url === '/v1/chat/completions' ? 200 : 404, {
			'content-type': 'application/json',
		});
		response.end(
			JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }),
		);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const chat: ChatEndpoint = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		asked: [],
		says: undefined,
		instead: undefined,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	return chat;
}
