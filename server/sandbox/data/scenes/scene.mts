/** A type of conversation in the generated data. */
export interface Scene {
	/** Hours of the day (0 to 24) between which it happens. */
	hours: [from: number, to: number];
	/** When in the week it happens; by default any day. */
	days?: 'workday' | 'weekend';
	/** Roles of the other speakers. */
	with: string[];
	titles: string[];
	/** Lines by heading. `{word}` is replaced by a person or a word below. */
	topics: Record<string, string[]>;
}
