// How many of the lifelogs that answer a question are among the first ten found.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mean } from 'simple-statistics';
import type { ContentNode, Lifelog } from '../lifelog/api.ts';
import { EmbeddingsEndpoint } from '../server/index/embeddings.mts';
import { fuse } from '../server/index/fusion.mts';
import { Meaning } from '../server/index/meaning.mts';
import { openIndex } from '../server/index/database.mts';
import { Rows } from '../server/index/rows.mts';
import { startEmbeddings } from '../test/support/embeddings.mts';
import type { TestSandbox } from '../test/support/sandbox.mts';
import { LIFE } from './agents/life.mts';
import { QUESTIONS } from './agents/questions.mts';
import type { Row } from './figures.mts';

const FIRST = 10;
const RANKED = 100;

const said = ({ content, children = [] }: ContentNode): string[] => [
	content,
	...children.flatMap(said),
];

/**
 * Asks the questions about the invented life as they are, of full text, of meaning, and of both. The
 * model is the stand-in of the tests, which folds some synonyms: what is measured is the way from
 * its vectors to an answer, not a real model.
 */
export async function meaning({ control }: TestSandbox): Promise<Row[]> {
	await control.reset(LIFE);
	const lifelogs = await control.lifelogs();
	const folder = await mkdtemp(join(tmpdir(), 'bench-meaning-'));
	const embeddings = await startEmbeddings(768);
	const db = openIndex(join(folder, 'index'));
	const rows = new Rows(db);
	const model = { url: embeddings.url, model: 'stand-in', key: undefined };
	const byMeaning = new Meaning(new EmbeddingsEndpoint(model), rows, () => {});
	try {
		const origin = { day: '2026-03-20', sha256: '', isGone: false, edited: '' };
		rows.transaction(() => lifelogs.forEach((lifelog) => rows.putLifelog(lifelog, origin)));
		await byMeaning.begin();
		byMeaning.catchUp();
		await byMeaning.idle();
		const recalls = { words: [] as number[], meaning: [] as number[], both: [] as number[] };
		for (const { question, answer } of QUESTIONS) {
			const wanted = lifelogs.filter((lifelog) => isIn(lifelog, answer)).map(({ id }) => id);
			if (wanted.length === 0) continue;
			const words = rows.searchLifelogs(question, {}, RANKED);
			const meant = (await byMeaning.search(question, {}, RANKED)) ?? [];
			const recall = (found: string[]) => {
				const first = new Set(found.slice(0, FIRST));
				return wanted.filter((id) => first.has(id)).length / Math.min(FIRST, wanted.length);
			};
			recalls.words.push(recall(words));
			recalls.meaning.push(recall(meant));
			recalls.both.push(recall(fuse([words, meant])));
		}
		const [words, meant, both] = Object.values(recalls).map((each) => mean(each));
		return [
			{
				what: `Search by meaning: of the lifelogs that answer a question, among the first ten found`,
				figure: `${percent(both)}; full text alone ${percent(words)}, meaning alone ${percent(meant)}`,
				from: `${recalls.both.length} questions with known answers over ${lifelogs.length} lifelogs; the vectors are those of the tests' stand-in for a model`,
				goal: 'no fewer than full text alone',
				holds: both >= words,
			},
		];
	} finally {
		await byMeaning.close();
		db.close();
		await embeddings.close();
		await rm(folder, { recursive: true, force: true });
	}
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

/** Whether the answer was said in a lifelog, or is its time. */
function isIn({ contents, startTime }: Lifelog, answer: string): boolean {
	return [startTime, ...contents.flatMap(said)].some((text) => text.includes(answer));
}
