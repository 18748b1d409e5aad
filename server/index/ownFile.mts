import { FileError, type Folder } from '../archive/folder.mts';
import { ApiError } from '../util/errors.mts';
import type { OnProblem } from './sync.mts';

/** A file in the root of an archive that is the owner's work: people.json, replacements.json. */
export class OwnFile<Content> {
	readonly #folder: Folder;
	readonly #path: string;
	readonly #parse: (text: string) => Content;
	readonly #none: Content;
	readonly #onProblem: OnProblem;
	#content: Content;
	/** The state of the file that was read last. */
	#fingerprint = 'none';
	#problem: string | undefined;
	#isPassing = false;

	/**
	 * @param parse Throws a FileError that says what is wrong with a text.
	 * @param none What counts without a file, or with one that can't be read.
	 */
	constructor(
		folder: Folder,
		path: string,
		parse: (text: string) => Content,
		none: Content,
		onProblem: OnProblem,
	) {
		this.#folder = folder;
		this.#path = path;
		this.#parse = parse;
		this.#none = this.#content = none;
		this.#onProblem = onProblem;
	}

	/** What it said when it was read last. Another object after each change. */
	get content(): Content {
		return this.#content;
	}

	/** Why it isn't used, as the end of a sentence about it. */
	get problem(): string | undefined {
		return this.#problem;
	}

	/** Whether it isn't as it was read. */
	async isDue(): Promise<boolean> {
		return this.#isPassing || (await this.#folder.fingerprint(this.#path)) !== this.#fingerprint;
	}

	/** Reads it, if it isn't as it was. One that can't be read counts for nothing, and is told. */
	async look(): Promise<void> {
		if (!(await this.isDue())) return;
		const fingerprint = await this.#folder.fingerprint(this.#path);
		let problem: FileError | undefined;
		try {
			this.#content = await this.#read();
		} catch (error) {
			if (!(error instanceof FileError)) throw error;
			problem = error;
			this.#content = this.#none;
			const isTold = fingerprint === this.#fingerprint && this.#problem === error.message;
			if (!isTold) this.#onProblem(this.#path, error.message);
		}
		this.#problem = problem?.message;
		this.#isPassing = problem?.isPassing === true;
		this.#fingerprint = fingerprint;
	}

	/**
	 * Reads it to change it. Nobody else may write to the archive meanwhile.
	 *
	 * @throws ApiError (409) if it can't be read.
	 */
	async forChange(): Promise<Content> {
		return await this.#read().catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			throw new ApiError(
				409,
				`Nothing was changed, because ${this.#path} in the archive ${error.message}. Repair it, or move it away`,
			);
		});
	}

	async #read(): Promise<Content> {
		if ((await this.#folder.fingerprint(this.#path)) === 'none') return this.#none;
		return this.#parse(await this.#folder.readUtf8(this.#path));
	}
}
