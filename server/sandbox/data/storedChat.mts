import type { Chat } from '../../../lifelog/api.ts';

/** A chat and what the service knows about it but does not answer. */
export interface StoredChat extends Chat {
	owner: 'self' | 'other';
	/** The scheduled prompt that generated it, or null. */
	globalPromptId: string | null;
}
