// What tests ask a server about people.
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import type { Person } from '../../../server/http/pageApi/answers.mts';
import { lifelogOf } from '../../support/invented.mts';
import { ask, type SpawnedServer } from '../sources.mts';

/** Something said by somebody, 2 s long. */
export const line = (
	speakerName: string | null,
	content: string,
	more: Partial<ContentNode> = {},
): ContentNode => ({
	...{ type: 'blockquote', content, speakerName, speakerIdentifier: null },
	...{ startOffsetMs: 0, endOffsetMs: 2000 },
	...more,
});

/** A lifelog with these lines, that begins at a time. */
export function talk(id: string, startTime: string, lines: ContentNode[]): Lifelog {
	const contents = [{ type: 'heading1', content: id }, ...lines];
	return lifelogOf(id, startTime, { title: id, contents, markdown: markdownOf(id, lines) });
}

/** The Markdown of such a lifelog, as the API has it. */
export const markdownOf = (title: string, lines: Pick<ContentNode, 'speakerName' | 'content'>[]) =>
	[
		`# ${title}`,
		...lines.map(({ speakerName, content }) => `> ${speakerName ?? 'Unknown'}: ${content}`),
	].join('\n\n');

/** The lines of a lifelog. */
export const linesOf = ({ contents }: Lifelog): ContentNode[] =>
	contents.filter(({ type }) => type === 'blockquote');

/** Asks a server, and changes it. */
export class PeopleClient {
	readonly #server: SpawnedServer;

	constructor(server: SpawnedServer) {
		this.#server = server;
	}

	async send(path: string, method = 'GET', body?: object) {
		const headers = { 'content-type': 'application/json' };
		const init = { method, ...(body && { headers, body: JSON.stringify(body) }) };
		const response = await ask(this.#server, path, init);
		return { status: response.status, body: await response.json() };
	}

	async change(body: object): Promise<{ status: number; people: Person[]; error: string }> {
		const { status, body: answer } = await this.send('/v1/people', 'PATCH', body);
		return { status, people: answer.data?.people, error: answer.error };
	}

	async edit(id: string, body: object): Promise<{ status: number; error: string }> {
		const { status, body: answer } = await this.send(`/v1/lifelogs/${id}`, 'PATCH', body);
		return { status, error: answer.error };
	}

	async people(query: Record<string, string> = {}): Promise<Person[]> {
		const { body } = await this.send(`/v1/people?${new URLSearchParams(query)}`);
		return body.data.people;
	}

	async get(id: string): Promise<Lifelog> {
		return (await this.send(`/v1/lifelogs/${id}`)).body.data.lifelog;
	}

	/** The names in the lines of a lifelog. */
	async names(id: string): Promise<(string | null | undefined)[]> {
		return linesOf(await this.get(id)).map(({ speakerName }) => speakerName);
	}

	async list(query: Record<string, string>): Promise<Lifelog[]> {
		const { body } = await this.send(`/v1/lifelogs?${new URLSearchParams(query)}`);
		return body.data.lifelogs;
	}

	/** The IDs of a list, sorted. */
	async ids(query: Record<string, string>): Promise<string[]> {
		const found = await this.list({ limit: '100', includeContents: 'false', ...query });
		return found.map(({ id }) => id).sort();
	}

	/** What a tool of the MCP server returns. */
	async call(name: string, args: object): Promise<string> {
		const params = { name, arguments: args };
		const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
		const response = await ask(this.#server, '/mcp', {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
			},
			body: JSON.stringify(message),
		});
		return (await response.json()).result.content[0].text;
	}
}
