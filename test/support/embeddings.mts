import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What an endpoint was asked. */
export interface Asked {
	model: string;
	input: string[];
	authorization: string | undefined;
}

/** What it answers instead of vectors, for once or from now on. */
export type Answer = (asked: Asked) => { status?: number; headers?: object; body?: unknown };

/** An endpoint of the OpenAI form, that stands for a model. */
export interface Embeddings {
	/** Without `/embeddings`. */
	url: string;
	asked: Asked[];
	/** Answers instead; undefined where it answers as it should. */
	instead: Answer | undefined;
	dimensions: number;
	close: () => Promise<void>;
}

/**
 * Words that the stand-in for a model takes for one: what a real one has learned from its texts.
 * Endings are taken off before.
 */
const synonyms = [
	'doctor physician medic powlowski',
	'ankle foot leg',
	'prescrib treatment therapy physiotherapy session',
	'cost price money expensive euro thousand hundred',
	'deductible excess',
	'trailer caravan hir rent',
	'train rail railway ticket',
	'school class clas',
	'trip excursion outing journey',
	'zoo animal',
	'boot shoe wellington',
	'lunch meal food packed',
	'begin start open opening',
	'talk presentation speech lecture',
	'boat ferry ship',
	'slow sluggish lag delay',
	'login sign authentication',
	'danger risk threat',
	'supplier vendor',
	'invoice bill billing',
	'export download',
	'meet appointment see again',
	'retrospective lesson learn',
	'pancake crepe',
	'sugar sweet',
	'cook bak kitchen recipe',
	'bug defect error fault',
	'pilot trial test',
	'garden plant botanical',
	'harbour port',
	'call phone telephone',
];
const folded = new Map(
	synonyms.flatMap((group) => group.split(' ').map((word) => [word, group.split(' ')[0]])),
);
const common = new Set(
	`a about an and any are as at be beside been by can did do does for from had has have how i if in
	is it its me much my next not of on or our said say so tell that the their them then there they
	this to until us was we were what when where which who why will with would you your`.split(/\s+/),
);

function numberOf(word: string, nth: number): number {
	let state = 2_166_136_261 ^ nth;
	for (const character of word) state = Math.imul(state ^ character.charCodeAt(0), 16_777_619);
	state = Math.imul(state ^ (state >>> 15), state | 1);
	state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
	return ((state ^ (state >>> 14)) >>> 0) / 2 ** 31 - 1;
}

/** A vector of a text: the sum of one for each of its words, whatever their order. */
export function vectorOf(said: string, dimensions: number): number[] {
	const vector = new Array<number>(dimensions).fill(1e-6);
	const words = new Map<string, number>();
	for (const [word] of said.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
		if (common.has(word)) continue;
		const stem = word.length > 4 ? word.replace(/(ings?|ed|es|s|e)$/, '') : word;
		const meaning = folded.get(stem) ?? folded.get(word) ?? stem;
		words.set(meaning, (words.get(meaning) ?? 0) + 1);
	}
	for (const [word, count] of words) {
		const weight = Math.sqrt(count);
		for (let nth = 0; nth < dimensions; nth += 1) vector[nth] += weight * numberOf(word, nth);
	}
	return vector;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startEmbeddings(dimensions = 256): Promise<Embeddings> {
	const server = createServer(async (request, response) => {
		// It has no list of models.
		if (request.method === 'GET') return response.writeHead(404).end();
		const body = JSON.parse(await text(request)) as { model: string; input: string[] };
		const asked = { ...body, authorization: request.headers.authorization };
		embeddings.asked.push(asked);
		const { status = 200, headers, body: other } = embeddings.instead?.(asked) ?? {};
		const isKnown = request.method === 'POST' && request.url === '/v1/embeddings';
		response.writeHead(isKnown ? status : 404, {
			'content-type': 'application/json',
			...headers,
		});
		const data = body.input.map((each, index) => ({
			object: 'embedding',
			index,
			embedding: vectorOf(each, embeddings.dimensions),
		}));
		// The order is said by the index, not by the place.
		const vectors = { object: 'list', data: data.reverse(), model: body.model };
		response.end(typeof other === 'string' ? other : JSON.stringify(other ?? vectors));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const embeddings: Embeddings = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		asked: [],
		instead: undefined,
		dimensions,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	return embeddings;
}
