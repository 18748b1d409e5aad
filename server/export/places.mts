// Chooses the paths of exported lifelogs.
import { load } from 'js-yaml';
import type { Lifelog } from '../../lifelog/api.ts';
import { titleOf } from '../../lifelog/contents.ts';
import { isObject, readableName, sameName } from '../../lifelog/names.ts';
import { wallClockOf } from '../../lifelog/times.ts';
import type { ExportFolder } from './exportFolder.mts';

export const NOTE = '.md';
export const SOUND = '.ogg';
/** More than the properties of a lifelog take. */
const HEAD_BYTES = 64 * 1024;

/** A lifelog, and its audio if exported. */
interface Placed {
	id: string;
	lifelog: Lifelog;
	audio?: unknown;
}

/** The file name of a lifelog, without folders and extension. */
export const nameOf = (lifelog: Lifelog, zone: string, nth?: number): string =>
	readableName(Date.parse(lifelog.startTime), zone, titleOf(lifelog), nth);

/** Gives each lifelog a unique name in the folder. */
export class Places {
	readonly #to: ExportFolder;
	readonly #timezone: string;
	/** Lifelog IDs by name, normalized like file systems compare names. */
	readonly #owners = new Map<string, string>();

	/** @param timezone IANA time zone of the names. */
	constructor(to: ExportFolder, timezone: string) {
		this.#to = to;
		this.#timezone = timezone;
		for (const [path, { id }] of to.state.files) {
			if (id !== '') this.#owners.set(sameName(stemOf(path)), id);
		}
	}

	/** The path of a lifelog, without extension. A name that still fits is kept. */
	async of({ id, lifelog, audio }: Placed): Promise<string> {
		const timezone = this.#timezone;
		const { day } = wallClockOf(Date.parse(lifelog.startTime), timezone);
		const folder = `${day.slice(0, 4)}/${day.slice(0, 7)}`;
		const place = (nth: number) => `${folder}/${nameOf(lifelog, timezone, nth)}`;
		const own = this.#to.filesOf(id).find((path) => !isSound(path));
		const before = own && stemOf(own);
		const isRight = before?.startsWith(place(1)) && /^(-\d+)?$/.test(before.slice(place(1).length));
		const isOwn = isRight && this.#owners.get(sameName(before!)) === id;
		if (isOwn && (await this.#isFree(before!, id, audio !== undefined))) return before!;
		for (let nth = 1; ; nth++) {
			const path = place(nth);
			if ((this.#owners.get(sameName(path)) ?? id) !== id) continue;
			if (!(await this.#isFree(path, id, audio !== undefined))) continue;
			this.#owners.set(sameName(path), id);
			return path;
		}
	}

	/** Whether the name is free. A file that contains the lifelog's own ID is from an export. */
	async #isFree(stem: string, id: string, hasAudio: boolean): Promise<boolean> {
		const found = await this.#to.look(stem + NOTE);
		if (found === 'foreign') return (await this.#idIn(stem + NOTE)) === id;
		return !hasAudio || (await this.#to.look(stem + SOUND)) !== 'foreign';
	}

	/** The ID in the properties of a file. */
	async #idIn(path: string): Promise<unknown> {
		const head = (await this.#to.beginningOf(path, HEAD_BYTES)) ?? '';
		const [, properties = ''] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(head) ?? [];
		try {
			const value: unknown = load(properties);
			return isObject(value) ? value.id : undefined;
		} catch {
			return undefined;
		}
	}
}

export const isSound = (path: string): boolean => path.endsWith(SOUND);
export const stemOf = (path: string): string => path.replace(/\.\w+$/, '');
