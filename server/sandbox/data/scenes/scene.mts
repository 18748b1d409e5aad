/** A kind of conversation in the invented life. */
export interface Scene {
	/** Hours of the day (0 to 24) between which it happens. */
	hours: [from: number, to: number];
	/** When in the week it happens; any day when missing. */
	days?: 'workday' | 'weekend';
	/** Who else talks: roles of the cast. */
	with: string[];
	titles: string[];
	/** Headings and the lines said under each; `{word}` stands for a person or a word below. */
	topics: Record<string, string[]>;
}
