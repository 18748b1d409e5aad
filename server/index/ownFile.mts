import { FileError, type Folder, readIfThere } from '../archive/folder.mts';
import { ApiError } from '../util/errors.mts';
import type { OnProblem } from './sync.mts';

/** A file in the archive's root that the owner may edit: people.json, replacements.json. */
export class OwnFile<Content> {
	readonly #folder: Folder;
	readonly #path: string;
	readonly #parse: (text: string) => Content;
	readonly #none: Content;
	readonly #onProblem: OnProblem;
	#content: Content;
	/** Fingerprint of the file when last read. */
	#fingerprint = 'none';
	#problem: string | undefined;
	#isPassing = false;

	/**
	 * @param parse Throws a FileError with the problem of a text.
	 * @param none Content without a readable file.
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

	/** Content when last read. A new object after each change. */
	get content(): Content {
		return this.#content;
	}

	/** Why it isn't used. Completes a sentence. */
	get problem(): string | undefined {
		return this.#problem;
	}

	/** Whether it has changed. */
	async isDue(): Promise<boolean> {
		return this.#isPassing || (await this.#folder.fingerprint(this.#path)) !== this.#fingerprint;
	}

	/** Reads it if it has changed. An unreadable file is ignored and reported. */
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
	 * Reads it before a change. The caller holds the write lock.
	 *
	 * @throws ApiError (409) if it is unreadable.
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
		return await readIfThere(this.#folder, this.#path, this.#parse, this.#none);
	}
}
