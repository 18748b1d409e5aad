/** Entries that a service has. */
interface Entries {
	lifelog: { id: string; title: string; startTime: string; endTime: string };
	chat: { id: string };
}

/** What operations are run with, by the names of their parameters. A locator is set to this ID. */
export function usualValues({ lifelog, chat }: Entries) {
	const { id, title, startTime, endTime } = lifelog;
	return {
		lifelogId: id,
		lifelogIdToDelete: id,
		chatId: chat.id,
		chatIdToDelete: chat.id,
		query: title,
		start: startTime,
		end: endTime,
		day: 'date',
		date: startTime.slice(0, 10),
		startTime,
		transcript: '[{ "text": "Good morning.", "speaker": "Ann", "start": 0, "end": 2 }]',
		title: 'A morning',
		updateFields: { title: 'A morning' },
	};
}

/** What to do about a parameter that has neither a usual value nor a default to run with. */
export const addUsual = (node: string, operation: string, name: string) =>
	`The parameter '${name}' of ${node} ${operation} is empty by default, so that tests would run without it. Add to usualValues in test/nodes/usual.mts:  ${name}: <a value with which the operation sends a request>`;
