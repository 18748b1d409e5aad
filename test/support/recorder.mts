// A server that keeps what comes to it, on this machine: the service, or somebody who must see nothing.
import type { RequestListener } from 'node:http';
import { serve } from './serve.mts';

/** What came: the first line and the headers as they were sent, in one text. */
export interface Recorder {
	url: string;
	/** What came since `clear` was called. */
	seen: string[];
	/** How it answers from now on; `{}` as JSON by default. */
	answer: RequestListener;
	clear: () => void;
	close: () => Promise<void>;
}

const empty: RequestListener = (_request, response) => {
	response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
};

/** Starts it on a free port of 127.0.0.1. */
export async function startRecorder(): Promise<Recorder> {
	const { url, server, close } = await serve((request, response) => {
		const { method, url, rawHeaders } = request;
		recorder.seen.push(`${method} ${url} ${JSON.stringify(rawHeaders)}`);
		recorder.answer(request, response);
	});
	server.on('connect', ({ method, url: target, rawHeaders }, socket) => {
		recorder.seen.push(`${method} ${target} ${JSON.stringify(rawHeaders)}`);
		socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
	});
	const recorder: Recorder = {
		url,
		seen: [],
		answer: empty,
		clear: () => {
			recorder.seen = [];
			recorder.answer = empty;
		},
		close,
	};
	return recorder;
}
