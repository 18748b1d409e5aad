import type { Chat } from '../../../lifelog/api.ts';

/** A chat with internal fields that aren't returned. */
export interface StoredChat extends Chat {
	owner: 'self' | 'other';
	/** The scheduled prompt that generated it, or null. */
	globalPromptId: string | null;
}
