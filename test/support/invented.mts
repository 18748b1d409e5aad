import type { Chat, Lifelog } from '../../lifelog/api.ts';

/** A lifelog of ten minutes in which its title is said. */
export function lifelogOf(id: string, startTime: string, more: Partial<Lifelog> = {}): Lifelog {
	const start = new Date(startTime);
	const endTime = new Date(start.getTime() + 600_000).toISOString();
	const title = more.title ?? `Title of ${id}`;
	const said = { type: 'blockquote', content: `Let us talk about ${title}.`, speakerName: 'Anna' };
	return {
		id,
		title,
		markdown: `# ${title}\n\n> Anna: ${said.content}`,
		contents: [{ type: 'heading1', content: title }, said],
		startTime: start.toISOString(),
		endTime,
		isStarred: false,
		updatedAt: endTime,
		...more,
	};
}

/** A chat of a question and its answer. */
export function chatOf(id: string, createdAt: string): Chat & { isScheduled: boolean } {
	const message = (role: 'user' | 'assistant', text: string) => ({
		id: `${id}-${role}`,
		text,
		createdAt,
		user: { role, name: null },
	});
	return {
		id,
		summary: `Summary of ${id}`,
		createdAt,
		startedAt: createdAt,
		messages: [message('user', 'What was that?'), message('assistant', 'A day.')],
		visibility: 'private',
		isScheduled: false,
	};
}
