// What is really there: lifelogs with their past, and chats with their messages.

const DAY_MS = 24 * 60 * 60_000;

const names = new Map<number, string>();

/** The UTC day, `YYYY-MM-DD`, of an instant. */
export function dayOf(instant: number): string {
	const number = Math.floor(instant / DAY_MS);
	let name = names.get(number);
	if (!name) {
		name = new Date(instant).toISOString().slice(0, 10);
		names.set(number, name);
	}
	return name;
}

export const daysBefore = (instant: number, days: number) => dayOf(instant - days * DAY_MS);

/**
 * From when on a change may count as one that came after a poll began: the service tells its time in
 * whole seconds, and changes may have whole seconds, too.
 */
export const mayCountFrom = (began: number) => Math.floor(began / 1000) * 1000 - 1000;

/** A lifelog as it was from some moment on. */
export interface Version {
	/** When it came about; `at` is its `updatedAt`. */
	time: number;
	at: number;
	starred: boolean;
	start: number;
}

/** A lifelog and its whole past. */
export interface Lifelog {
	id: string;
	versions: Version[];
	deletedAt?: number;
	/** Left out of the next list of its day, and when it last was. */
	hideNext?: boolean;
	hiddenAt?: number;
}

/** What one message of a chat holds. */
export interface Message {
	at: number;
	role: 'user' | 'assistant' | 'tool';
	text?: string;
	/** How many tools it calls. */
	calls?: number;
	/** From when on it holds the results of the tools called so far. */
	resultsAt?: number;
}

/** A scheduled chat; messages whose time has not come are not yet there. */
export interface Chat {
	id: string;
	prompt: string;
	createdAt: number;
	/** When it came to be in the account, however long after it was created. */
	askedAt: number;
	messages: Message[];
	deletedAt?: number;
}

export const latest = ({ versions }: Lifelog) => versions[versions.length - 1];
export const isAlive = ({ deletedAt }: { deletedAt?: number }) => deletedAt === undefined;

/** A text beside tool calls is an answer when nothing has come for so long. */
const QUIET_MS = 15 * 60_000;

/**
 * The answer that a chat has at an instant: the last text of the assistant in a message that calls
 * no tool, or, beside tool calls that have their results, one after which nothing has come for a
 * quarter of an hour.
 */
export function answerAt(chat: Chat, instant: number): string | undefined {
	const messages = chat.messages.filter(({ at }) => at <= instant);
	const isQuiet = instant - Math.max(...messages.map(({ at }) => at)) >= QUIET_MS;
	for (let index = messages.length - 1; index >= 0; index--) {
		const { role, text, calls } = messages[index];
		const results = messages
			.slice(index)
			.filter(({ resultsAt = Infinity }) => resultsAt <= instant);
		if (calls && results.length === 0) return undefined;
		if (role !== 'assistant' || !text) continue;
		return !calls || isQuiet ? text : undefined;
	}
	return undefined;
}

/** The instants at which what a chat shows may change. */
export function turningPoints({ messages }: Chat): number[] {
	const instants = messages.flatMap(({ at, resultsAt = at }) => [at, resultsAt]);
	return instants.flatMap((instant) => [instant, instant + QUIET_MS]).sort((a, b) => a - b);
}

/** The first instant from which on it has an answer; undefined where it never has. */
export function answeredAt(chat: Chat): number | undefined {
	return turningPoints(chat).find((instant) => answerAt(chat, instant) !== undefined);
}
