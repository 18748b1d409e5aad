import type { Lifelog } from '../api/apiTypes';
import { utterances } from './utterances';
import { oneLine } from '../util/text';

/** The API's word for the wearer (specification, section 2.2). */
export const USER = 'user';
const UNKNOWN = 'unknown';

export interface Speakers {
	/** In the order of their first words. */
	speakers: string[];
	/** The wearer's names in this lifelog. */
	wearers: string[];
}

/** The speakers who are known by name, or as the wearer (specification, section 2.2). */
export function speakersOf(lifelog: Lifelog): Speakers {
	const known = utterances(lifelog).map(({ speaker, speakerIdentifier }) => {
		const name = oneLine(speaker);
		const isNamed = name !== '' && name.toLowerCase() !== UNKNOWN;
		const isWearer = speakerIdentifier === USER;
		return { name: isNamed ? name : isWearer ? USER : '', isNamedWearer: isNamed && isWearer };
	});
	const names = (some: typeof known) => distinct(some.map(({ name }) => name).filter(Boolean));
	return {
		speakers: names(known),
		wearers: names(known.filter(({ isNamedWearer }) => isNamedWearer)),
	};
}

/** Each name once, whatever its case. */
export function distinct(names: string[]): string[] {
	const byName = new Map<string, string>();
	for (const name of names) {
		const key = name.toLowerCase();
		if (!byName.has(key)) byName.set(key, name);
	}
	return [...byName.values()];
}
