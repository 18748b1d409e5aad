// What tests ask a server about words.
import type { Preview } from '../../../server/index/findWords.mts';
import type { ReplacementState } from '../../../server/index/replacements.mts';
import { PeopleClient } from '../people/client.mts';

interface Answer {
	status: number;
	error?: string;
	replacement: ReplacementState;
}

/** Asks a server, and replaces words in its lifelogs. */
export class WordsClient extends PeopleClient {
	async replace(heard: string, right: string): Promise<Answer> {
		const { status, body } = await this.send('/v1/replacements', 'POST', { heard, right });
		return { status, error: body.error, replacement: body.data?.replacement };
	}

	async preview(heard: string, right: string): Promise<Preview & { status: number }> {
		const asked = { heard, right, isPreview: true };
		const { status, body } = await this.send('/v1/replacements', 'POST', asked);
		return { status, ...body.data };
	}

	async replacements(): Promise<ReplacementState[]> {
		return (await this.send('/v1/replacements')).body.data.replacements;
	}

	async takeBack(id: string): Promise<number> {
		return (await this.send(`/v1/replacements/${id}`, 'DELETE')).status;
	}
}
