import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { mapNodes, USER } from '../../lifelog/contents.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import { namesOf, type Person } from './people.mts';

/** Display names of speakers, from people.json. */
export class Names {
	readonly people: Person[];
	readonly #byName: Map<string, Person>;
	readonly #me: Person | undefined;

	constructor(people: Person[] = []) {
		this.people = people;
		this.#byName = new Map(
			people.flatMap((person) => namesOf(person).map((name) => [name, person])),
		);
		this.#me = people.find(({ isMe }) => isMe);
	}

	/** Whether all speakers keep their stored names. */
	get isEmpty(): boolean {
		return this.people.length === 0;
	}

	/** The person in people.json who has or had a name. */
	personOf(name: string): Person | undefined {
		return this.#byName.get(name);
	}

	/** The display name for a stored name; '' for no speaker. */
	shown(stored: string, isWearer: boolean): string {
		if (isWearer && this.#me && isLabel(stored)) return this.#me.name;
		return this.#byName.get(stored)?.name ?? stored;
	}

	/**
	 * A lifelog with display names. Its Markdown is rendered again if any name changes.
	 *
	 * @param stored With contents and edits.
	 */
	in(stored: Lifelog): Lifelog {
		if (this.isEmpty) return stored;
		const found = { isChanged: false, isRenamed: false };
		const contents = mapNodes(stored.contents, (node) => {
			const name = this.shown(nameIn(node), node.speakerIdentifier === USER);
			const isOther = name !== nameIn(node);
			const isMe = this.#me?.name === name && node.speakerIdentifier !== USER;
			if (!isOther && !isMe) return node;
			found.isChanged = true;
			found.isRenamed ||= isOther;
			return {
				...node,
				...(isOther && { speakerName: name }),
				...(isMe && { speakerIdentifier: USER }),
			};
		});
		if (!found.isChanged) return stored;
		const isRewritten = found.isRenamed && typeof stored.markdown === 'string';
		return { ...stored, contents, ...(isRewritten && { markdown: renderMarkdown(contents) }) };
	}
}

/** The name of a speaker; '' without one. */
export const nameIn = ({ speakerName }: ContentNode): string =>
	typeof speakerName === 'string' ? speakerName : '';
