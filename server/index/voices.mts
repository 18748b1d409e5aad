import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes, placeMsOf, USER } from '../../lifelog/contents.ts';
import { nameIn } from '../archive/names.mts';
import type { IndexDatabase } from './database.mts';

/** A speaker under one stored name. The wearer counts separately. */
export interface Voice {
	number: number;
	/** Empty for a wearer without a name. */
	name: string;
	isWearer: boolean;
}

/** A voice, and how much it speaks. */
export interface HeardVoice extends Voice {
	lifelogs: number;
	spokenMs: number;
	/** Start of its first and last lifelog. UTC ISO strings. */
	first: string;
	last: string;
}

/** Who speaks in which lifelog and for how long, by stored names. */
export class Voices {
	readonly #db: IndexDatabase;

	constructor(db: IndexDatabase) {
		this.#db = db;
		// Names as JSON: SQLite would cut or change some.
		db.exec(`
			CREATE TABLE IF NOT EXISTS voice (
				number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, wearer INTEGER NOT NULL,
				UNIQUE (name, wearer)
			);
			CREATE TABLE IF NOT EXISTS spoken (
				voice INTEGER NOT NULL, document INTEGER NOT NULL, time TEXT NOT NULL, ms INTEGER NOT NULL,
				PRIMARY KEY (voice, document)
			) WITHOUT ROWID;
			CREATE INDEX IF NOT EXISTS spoken_document ON spoken (document);
		`);
	}

	/** Adds the speakers of a lifelog with this document number. */
	put(document: number, { contents, startTime }: Lifelog): void {
		const startMs = Date.parse(startTime);
		const spoken = new Map<string, number>();
		for (const node of contentNodes(contents)) {
			const isWearer = node.speakerIdentifier === USER;
			const name = nameIn(node);
			if (name === '' && !isWearer) continue;
			const key = `${Number(isWearer)}${JSON.stringify(name)}`;
			const from = placeMsOf(node.startOffsetMs, node.startTime, startMs, 'UTC') ?? 0;
			const to = placeMsOf(node.endOffsetMs, node.endTime, startMs, 'UTC') ?? from;
			spoken.set(key, (spoken.get(key) ?? 0) + Math.max(0, Math.round(to - from)));
		}
		for (const [key, ms] of spoken) {
			const [name, wearer] = [key.slice(1), Number(key[0])];
			this.#db.run('INSERT OR IGNORE INTO voice (name, wearer) VALUES (?, ?)', name, wearer);
			this.#db.run(
				`INSERT INTO spoken (voice, document, time, ms)
				VALUES ((SELECT number FROM voice WHERE name = ? AND wearer = ?), ?, ?, ?)`,
				...[name, wearer, document, startTime, ms],
			);
		}
	}

	/** Removes the speakers of a lifelog, and voices without lifelogs. */
	delete(document: number): void {
		for (const { number } of this.#of(document)) {
			this.#db.run('DELETE FROM spoken WHERE voice = ? AND document = ?', number, document);
			this.#db.run(
				`DELETE FROM voice WHERE number = ?1
				AND NOT EXISTS (SELECT 1 FROM spoken WHERE voice = ?1)`,
				number,
			);
		}
	}

	/** The voices of a lifelog, by its ID. */
	in(id: string): Voice[] {
		const found = this.#db.get('SELECT number FROM document WHERE id = ?', id);
		return found ? this.#of(Number(found.number)) : [];
	}

	/** Whether any voice has this name. */
	has(name: string): boolean {
		const sql = 'SELECT 1 FROM voice WHERE name = ? LIMIT 1';
		return this.#db.get(sql, JSON.stringify(name)) !== undefined;
	}

	/** All voices, and how much they speak. */
	heard(): HeardVoice[] {
		const rows = this.#db.all(`
			SELECT voice.number, name, wearer, lifelogs, total, first, last
			FROM voice JOIN (
				SELECT voice AS number, count(*) AS lifelogs, sum(ms) AS total, min(time) AS first,
					max(time) AS last FROM spoken GROUP BY voice
			) USING (number) ORDER BY voice.number`);
		return rows.map((row) => ({
			...this.#voiceOf(row),
			...{ lifelogs: Number(row.lifelogs), spokenMs: Number(row.total) },
			...{ first: String(row.first), last: String(row.last) },
		}));
	}

	/** Number of lifelogs in which any of the voices speaks. */
	countLifelogs(voices: number[]): number {
		const sql = `SELECT count(DISTINCT document) AS n FROM spoken
			WHERE voice IN (SELECT value FROM json_each(?))`;
		return Number(this.#db.get(sql, JSON.stringify(voices))?.n);
	}

	#of(document: number): Voice[] {
		const sql = `SELECT voice.number, name, wearer
			FROM spoken JOIN voice ON voice.number = spoken.voice WHERE document = ?`;
		return this.#db.all(sql, document).map((row) => this.#voiceOf(row));
	}

	#voiceOf({ number, name, wearer }: ReturnType<IndexDatabase['all']>[number]): Voice {
		return { number: Number(number), name: String(this.#db.parse(name)), isWearer: wearer === 1 };
	}
}

/** SQL condition that a document has any voice of a JSON list. */
export const hasVoice = (list = '?'): string =>
	`IN (SELECT document FROM spoken WHERE voice IN (SELECT value FROM json_each(${list})))`;
