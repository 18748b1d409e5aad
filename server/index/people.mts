import { isLabel } from '../../lifelog/speakers.ts';
import type { Lifelog } from '../../lifelog/api.ts';
import type { Folder } from '../archive/folder.mts';
import { PEOPLE } from '../archive/layout.mts';
import { Names } from '../archive/names.mts';
import {
	changePeople,
	parsePeople,
	peopleJson,
	type PeopleChange,
	type PeopleFile,
} from '../archive/people.mts';
import { OwnFile } from './ownFile.mts';
import type { Rows } from './rows.mts';
import type { HeardPerson, IndexFilter, Parts, SearchFilter } from './store.mts';
import { SimilarNames } from './similar.mts';
import type { Named } from './snippet.mts';
import type { OnProblem } from './sync.mts';
import type { HeardVoice } from './voices.mts';
import { asSpeaker, partsOf, plain, stopWords, wordsIn } from './words.mts';

interface Known {
	person: HeardPerson;
	voices: number[];
	words: string[][];
}

/** All people, for a state of `names` and of the index. */
interface Everyone {
	revision: object;
	names: Names;
	byName: Map<string, Known>;
	byWord: Map<string, Known[]>;
}

/** The people who speak in an archive's lifelogs, with names from people.json. */
export class People {
	readonly #file: OwnFile<PeopleFile>;
	readonly #rows: Rows;
	#names = new Names();
	#heard: { revision: object; voices: HeardVoice[] } | undefined;
	#known: Everyone | undefined;
	readonly #similar = new SimilarNames();
	#comparedNames: Map<string, Known> | undefined;

	constructor(folder: Folder, rows: Rows, onProblem: OnProblem) {
		this.#file = new OwnFile(folder, PEOPLE, parsePeople, { people: [] }, onProblem);
		this.#rows = rows;
	}

	/** Why people.json isn't used. Completes a sentence. */
	get problem(): string | undefined {
		return this.#file.problem;
	}

	/** Whether people.json has changed. */
	async isDue(): Promise<boolean> {
		return await this.#file.isDue();
	}

	/** Reads people.json if it has changed. An unreadable file is ignored and reported. */
	async look(): Promise<void> {
		await this.#file.look();
		const { people } = this.#file.content;
		if (people !== this.#names.people) this.#names = new Names(people);
	}

	/**
	 * Applies a change to people.json. The caller holds the write lock.
	 *
	 * @returns The new text, undefined if unchanged, and the person's new name.
	 * @throws ApiError: 409 if the file is unreadable, and errors of {@link changePeople}.
	 */
	async change(change: PeopleChange): Promise<{ json?: string; name: string }> {
		const before = await this.#file.forChange();
		const isHeard = (name: string) => this.#rows.voices.has(name);
		const { people, name } = changePeople(before.people, change, isHeard);
		const isSame = JSON.stringify(people) === JSON.stringify(before.people);
		return { name, ...(!isSame && { json: peopleJson(before, people) }) };
	}

	/** A lifelog with current names. @param parts The parts that were read. */
	in(stored: Lifelog, parts?: Parts): Lifelog {
		if (this.#names.isEmpty) return stored;
		if (!parts || parts.contents) return this.#names.in(stored);
		const isOther = ({ name, isWearer }: { name: string; isWearer: boolean }) =>
			this.#names.shown(name, isWearer) !== name;
		if (!parts.markdown || !this.#rows.voices.in(stored.id).some(isOther)) return stored;
		const whole = this.#rows.getLifelog(stored.id);
		return whole ? { ...this.#names.in(whole), contents: [] } : stored;
	}

	/** Current names of speakers. */
	get names(): Names {
		return this.#names;
	}

	/** Everyone with a name. */
	all(): HeardPerson[] {
		return [...this.#current().byName.values()].map(({ person }) => person);
	}

	/** The person who has or had a name. */
	find(name: string): HeardPerson | undefined {
		const current = this.#names.personOf(name)?.name ?? name;
		return this.#current().byName.get(current)?.person;
	}

	/** Names of other people that are similar to a name. */
	similarTo(name: string): string[] {
		const { byName } = this.#current();
		if (this.#comparedNames !== byName) this.#similar.keep(byName);
		this.#comparedNames = byName;
		return this.#similar.of(name);
	}

	/** A filter in the index's form. */
	filterOf({ speaker, speakerPart, ...filter }: SearchFilter): IndexFilter {
		if (speaker === undefined && speakerPart === undefined) return filter;
		const wanted = speaker && (this.#names.personOf(speaker)?.name ?? speaker);
		const part = speakerPart && asSpeaker(speakerPart);
		const voices = this.#voices().filter(({ name, isWearer }) => {
			const shown = this.#names.shown(name, isWearer);
			return (
				(wanted === undefined || shown === wanted) &&
				(part === undefined || asSpeaker(shown).includes(part))
			);
		});
		return { ...filter, voices: voices.map(({ number }) => number) };
	}

	/** Voices of the people that a word or phrase names. */
	voicesNamed(terms: string[]): number[] {
		return this.#namedBy(terms).flatMap(({ voices }) => voices);
	}

	/** The people that a search names. */
	namedIn(search: string): Named {
		const names = new Set<string>();
		const rest: string[] = [];
		for (const { isQuoted, terms } of partsOf(search)) {
			const isAsked = isQuoted || terms.length > 1 || !stopWords.has(terms[0]);
			const named = terms.length > 0 && isAsked ? this.#namedBy(terms) : [];
			for (const { person } of named) names.add(person.name);
			if (named.length === 0 && terms.length > 0) {
				rest.push(isQuoted ? `"${terms.join(' ')}"` : terms.join(' '));
			}
		}
		return { names, rest: rest.join(' ') };
	}

	/** People with these consecutive words in a name. */
	#namedBy([first, ...rest]: string[]): Known[] {
		const isNamed = (own: string[]) =>
			own.some(
				(word, at) => word === first && rest.every((each, nth) => own[at + nth + 1] === each),
			);
		return (this.#current().byWord.get(first) ?? []).filter(({ words }) => words.some(isNamed));
	}

	/** All voices, cached until the index changes. */
	#voices(): HeardVoice[] {
		const { revision, voices } = this.#rows;
		if (this.#heard?.revision !== revision) this.#heard = { revision, voices: voices.heard() };
		return this.#heard.voices;
	}

	/** Cached until the index or people.json changes. */
	#current(): Everyone {
		const { revision } = this.#rows;
		if (this.#known?.revision === revision && this.#known.names === this.#names) return this.#known;
		const byName = this.#readEveryone();
		const byWord = new Map<string, Known[]>();
		for (const known of byName.values()) {
			for (const word of new Set(known.words.flat())) {
				const same = byWord.get(word);
				if (same) same.push(known);
				else byWord.set(word, [known]);
			}
		}
		return (this.#known = { revision, names: this.#names, byName, byWord });
	}

	#readEveryone(): Map<string, Known> {
		const everyone = new Map<string, Known>();
		for (const { name, alsoCalled = [], isMe = false } of this.#names.people) {
			everyone.set(name, unheard(name, alsoCalled, isMe));
		}
		for (const voice of this.#voices()) {
			const name = this.#names.shown(voice.name, voice.isWearer);
			if (isLabel(name)) continue;
			const known = everyone.get(name) ?? unheard(name, [], false);
			everyone.set(name, known);
			known.voices.push(voice.number);
			const { person } = known;
			person.lifelogs += voice.lifelogs;
			person.spokenMs += voice.spokenMs;
			const { firstHeard, lastHeard } = person;
			person.firstHeard = firstHeard && firstHeard < voice.first ? firstHeard : voice.first;
			person.lastHeard = lastHeard && lastHeard > voice.last ? lastHeard : voice.last;
		}
		for (const { person, voices } of everyone.values()) {
			// A lifelog can have several voices of a person.
			if (voices.length > 1) person.lifelogs = this.#rows.voices.countLifelogs(voices);
		}
		return everyone;
	}
}

const unheard = (name: string, alsoCalled: string[], isMe: boolean): Known => ({
	person: {
		...{ name, alsoCalled: alsoCalled.toSorted(), isMe, lifelogs: 0, spokenMs: 0 },
		...{ firstHeard: null, lastHeard: null },
	},
	voices: [],
	words: [name, ...alsoCalled].map((each) => wordsIn(plain(each))),
});
