// A few short days of somebody's life, with everything in it that an entry can be.
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import type { SandboxControl } from './sandbox.mts';

const DAY_MS = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** When somebody talked, every day, and for how many seconds. */
const TALKS = [
	['06:10:00', 95],
	['08:15:30', 180],
	['12:00:00', 61],
	['15:55:00', 20],
	// Over the end of a file of audio.
	['17:59:10', 130],
	['21:03:00', 240],
	// Over midnight.
	['23:58:30', 200],
] as const;

/** An ID that has to be written otherwise in names and addresses, and when it begins. */
const ODD_ID = { at: '17:59:10', id: 'aé~b' };
const STARRED_AT = '08:15:30';

/** What else there is, all of it on one day, by what is odd about it. */
function oddities(startTime: string): Array<Partial<Lifelog>> {
	const node = (type: string, content: string, more: Partial<ContentNode> = {}): ContentNode => ({
		...{ type, content, ...more },
	});
	return [
		{ id: 'without-contents', title: 'Nothing was said', contents: [], markdown: null },
		{ id: 'twin', title: '“Twins” – 双子 🎙️', isStarred: true },
		{
			id: 'odd-contents',
			title: 'Headings alone, and what nobody knows',
			contents: [
				node('heading1', 'Headings alone, and what nobody knows'),
				node('heading2', 'Upper', {
					children: [
						node('heading3', 'Lower', {
							children: [
								node('blockquote', 'From further down.', { speakerName: null }),
								node('blockquote', 'Said by nobody.'),
							],
						}),
					],
				}),
				node('drawing', 'A sketch of a garden', { startTime, endTime: startTime }),
			],
		},
	].map((lifelog) => ({ startTime, ...lifelog }));
}

/** The contents of a conversation, as if it had been at another time and shorter. */
function retimed({ startTime, endTime, contents }: Lifelog, startMs: number, endMs: number) {
	const began = Date.parse(startTime);
	const scale = (endMs - startMs) / (Date.parse(endTime) - began);
	const at = (time?: string) =>
		time && new Date(startMs + Math.round((Date.parse(time) - began) * scale)).toISOString();
	const move = (node: ContentNode): ContentNode => {
		const times = { startTime: at(node.startTime), endTime: at(node.endTime) };
		const offset = (time?: string) => (time === undefined ? undefined : Date.parse(time) - startMs);
		return {
			...{ ...node, ...times },
			...{ startOffsetMs: offset(times.startTime), endOffsetMs: offset(times.endTime) },
			children: node.children?.map(move),
		};
	};
	return contents.map(move);
}

/**
 * Replaces what a sandbox has by the days before `today` (YYYY-MM-DD), UTC: some minutes of
 * conversations on each, and chats about them. The rate limit is lifted.
 *
 * @param now Where its clock is to stand; the real time when missing.
 * @returns The lifelogs, as the sandbox has them.
 */
export async function liveFor(
	days: number,
	today: string,
	control: SandboxControl,
	now?: string,
): Promise<Lifelog[]> {
	const endMs = Date.parse(today);
	const last = new Date(endMs).toISOString();
	await control.reset({ now: last, days: days + 1, perDay: TALKS.length });
	const [talks, chats] = [await control.lifelogs(), await control.chats()];
	const dialect = { rateLimit: { max: 1_000_000 } };
	await control.reset({ empty: true, dialect, ...(now !== undefined && { now }) });
	for (const [index, talk] of talks.slice(0, days * TALKS.length).entries()) {
		const dayMs = endMs - (days - Math.floor(index / TALKS.length)) * DAY_MS;
		const [time, seconds] = TALKS[index % TALKS.length];
		const startMs = Date.parse(`${dayOf(dayMs)}T${time}Z`);
		const talkEndMs = startMs + seconds * 1000;
		await control.addLifelog({
			id: time === ODD_ID.at ? `${dayOf(dayMs)}_${ODD_ID.id}` : talk.id,
			title: talk.title,
			contents: retimed(talk, startMs, talkEndMs),
			startTime: new Date(startMs).toISOString(),
			endTime: new Date(talkEndMs).toISOString(),
			updatedAt: new Date(talkEndMs).toISOString(),
			isStarred: time === STARRED_AT,
		});
	}
	for (const lifelog of oddities(`${dayOf(endMs - DAY_MS)}T10:00:00.000Z`)) {
		await control.addLifelog({ updatedAt: last, ...lifelog });
	}
	for (const chat of chats) await control.addChat(chat);
	return await control.lifelogs();
}
