import type { Faker } from '@faker-js/faker';
import type { ChatMessage, Lifelog, ToolResult } from '../../../lifelog/api.ts';
import { midnightOf, type Period } from './period.mts';
import { createId } from './random.mts';
import type { StoredChat } from './storedChat.mts';

interface ScheduledPrompt {
	globalPromptId: string;
	summary: string;
	text: string;
	/** Local time of day. */
	at: { hour: number; minute: number };
	/** Weekdays; 1 is Monday. */
	weekdays: number[];
}

const scheduledPrompts: ScheduledPrompt[] = [
	{
		globalPromptId: 'pR7dailyRecap4xQ9mZ2',
		summary: 'Daily recap',
		text: 'Give me a recap of my day: what happened, what I decided, what I promised.',
		at: { hour: 21, minute: 30 },
		weekdays: [1, 2, 3, 4, 5, 6, 7],
	},
	{
		globalPromptId: 'pK3actionItems8vB5nT',
		summary: 'Action items',
		text: 'List the action items of my working day.',
		at: { hour: 18, minute: 0 },
		weekdays: [1, 2, 3, 4, 5],
	},
	{
		globalPromptId: 'pW1weeklyReview6yH0c',
		summary: 'Weekly review',
		text: 'What were the highlights of my week, and what is still open?',
		at: { hour: 17, minute: 0 },
		weekdays: [7],
	},
];

const questions = [
	{ ask: 'What did we talk about in "{title}"?', summary: 'About {title}' },
	{ ask: 'Did I promise anybody anything in "{title}"?', summary: 'Promises made' },
	{ ask: 'When was "{title}" and who was there?', summary: 'Looking up a conversation' },
	{ ask: 'Write a short follow-up mail about "{title}".', summary: 'Follow-up mail' },
	{ ask: 'How did I come across in "{title}"?', summary: 'Feedback on a talk' },
];

/** Generates the chats of a period about given lifelogs, including two of another user. */
export function generateChats(faker: Faker, period: Period, lifelogs: Lifelog[]): StoredChat[] {
	const writer = chatWriter(faker);
	const chats: StoredChat[] = [];
	for (let index = 0; index < period.days; index += 1) {
		const midnight = midnightOf(period, index);
		const from = midnight.toUTC().toISO() ?? '';
		for (const prompt of scheduledPrompts) {
			const at = midnight.set(prompt.at);
			if (at.toMillis() > period.now || !prompt.weekdays.includes(at.weekday)) continue;
			const until = at.toUTC().toISO() ?? '';
			const entries = lifelogs.filter(({ endTime }) => endTime > from && endTime <= until);
			chats.push(writer.scheduled(prompt, at.toMillis(), entries));
		}
		const recent = lifelogs.filter(({ startTime }) => startTime > from).slice(0, 30);
		for (let count = faker.number.int({ max: 3 }); count > 0 && recent.length > 0; count -= 1) {
			const lifelog = faker.helpers.arrayElement(recent);
			const asked = Date.parse(lifelog.endTime) + faker.number.int({ min: 60_000, max: 7_200_000 });
			if (asked < period.now - 60_000) chats.push(writer.ordinary(asked, lifelog, chats.length));
		}
	}
	chats.push(writer.foreign(period.now, 'public'), writer.foreign(period.now, 'private'));
	return chats;
}

function chatWriter(faker: Faker) {
	/** Creates consecutive messages, a few seconds apart. */
	const conversation = (start: number) => {
		let ms = start;
		return (role: ChatMessage['user']['role'], content: Partial<ChatMessage>): ChatMessage => {
			const createdAt = new Date(ms).toISOString();
			ms += faker.number.int({ min: 1_000, max: 9_000 });
			const user = { role, name: role === 'user' ? 'You' : null };
			return { id: createId(faker), text: null, ...content, createdAt, user };
		};
	};

	const chat = (messages: ChatMessage[], rest: Partial<StoredChat>): StoredChat => ({
		id: createId(faker),
		summary: null,
		createdAt: messages[0].createdAt,
		startedAt: messages[0].createdAt,
		messages,
		visibility: 'private',
		owner: 'self',
		globalPromptId: null,
		...rest,
	});

	/** A tool call of the assistant and its result: two messages without text. */
	const lookUp = (
		message: ReturnType<typeof conversation>,
		args: Record<string, unknown>,
		outcome: Pick<ToolResult, 'result' | 'isError' | 'entriesReturned'>,
	): ChatMessage[] => {
		const toolCallId = createId(faker);
		const toolName = 'search_lifelogs';
		return [
			message('assistant', { toolCalls: [{ id: toolCallId, toolName, args }] }),
			message('tool', { toolResults: [{ toolCallId, toolName, ...outcome }] }),
		];
	};

	const found = (lifelogs: Lifelog[]) => ({
		result: { count: lifelogs.length },
		isError: false,
		entriesReturned: lifelogs.map(({ id, title }) => ({ id, title })),
	});

	return {
		scheduled(prompt: ScheduledPrompt, start: number, lifelogs: Lifelog[]): StoredChat {
			const message = conversation(start);
			const chosen = faker.helpers.arrayElements(lifelogs, 5);
			const date = new Date(start).toISOString().slice(0, 10);
			const list = chosen.map((lifelog) => `- **${lifelog.title}**: ${someLine(lifelog)}`);
			const messages = [
				message('user', { text: prompt.text }),
				...lookUp(message, { date }, found(chosen)),
				message('assistant', {
					text: [`## ${prompt.summary}`, ...(list.length > 0 ? list : ['A quiet day.'])].join('\n'),
				}),
			];
			const { summary, globalPromptId } = prompt;
			return chat(messages, { summary: `${summary} for ${date}`, globalPromptId });
		},

		/** `index` varies rare features: failed tools, missing summaries, shared chats. */
		ordinary(start: number, lifelog: Lifelog, index: number): StoredChat {
			const message = conversation(start);
			const question = faker.helpers.arrayElement(questions);
			const fill = (text: string) => text.replace('{title}', lifelog.title);
			const query = { query: lifelog.title };
			const failed = {
				result: { message: 'The search took too long' },
				isError: true,
				entriesReturned: null,
			};
			const messages = [
				message('user', { text: fill(question.ask) }),
				...(index % 10 === 3 ? lookUp(message, query, failed) : []),
				...lookUp(message, query, found([lifelog])),
				message('assistant', {
					text: `In **${lifelog.title}** it was said: "${someLine(lifelog)}"`,
				}),
				...(index % 3 === 0
					? [
							message('user', { text: 'Thanks, that is what I was looking for.' }),
							message('assistant', { text: 'You are welcome.' }),
						]
					: []),
			];
			return chat(messages, {
				summary: index % 4 === 0 ? null : fill(question.summary),
				visibility: index % 9 === 4 ? 'public' : index % 9 === 7 ? 'internal' : 'private',
			});
		},

		foreign(now: number, visibility: StoredChat['visibility']): StoredChat {
			const message = conversation(now - 3_600_000);
			const messages = [
				message('user', { text: 'How do I share a chat with my team?' }),
				message('assistant', { text: 'Set its visibility to public and send them the link.' }),
			];
			return chat(messages, { summary: 'Sharing a chat', visibility, owner: 'other' });
		},
	};
}

/** The longest line of a conversation, which says more about it than "Right." does. */
function someLine({ contents }: Lifelog): string {
	const lines = contents.filter(({ type }) => type === 'blockquote').map(({ content }) => content);
	return lines.reduce((longest, line) => (line.length > longest.length ? line : longest), '');
}
