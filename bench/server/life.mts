// Three years of talk, invented quickly and always the same: words by Zipf's law, as people use them.
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { seededRandom } from '../../test/support/seededRandom.mts';

export const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
const VOCABULARY = 30_000;
/** How much is said in a lifelog, in characters of its Markdown. */
const MARKDOWN_CHARACTERS = 10_000;
const SPEAKERS = ['You', 'Anna', 'Maurice', 'Aracely'];

const consonants = 'bdfghklmnprstvz';
const vowels = 'aeiou';

/** A word that can be spoken, another one for each number. */
function wordOf(number: number): string {
	let word = '';
	for (let rest = number + 75; rest > 0; rest = Math.floor(rest / 75)) {
		word += consonants[rest % 15] + vowels[Math.floor(rest / 15) % 5];
	}
	return word;
}

/** All words, the most frequent one first. */
export const words = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank));

/** Words to be picked from at random: each as often as it is used. */
const spoken = (() => {
	const share = words.map((_, rank) => 1 / (rank + 2.7));
	const whole = share.reduce((sum, each) => sum + each, 0);
	const picks: string[] = [];
	let owed = 0;
	for (const [rank, word] of words.entries()) {
		owed += (share[rank] / whole) * 2 ** 20;
		for (; picks.length < owed; picks.push(word));
	}
	return picks;
})();

/** The lifelogs of a day, in order; `count` of them between 7 and 22 h UTC. */
export function lifelogsOf(day: number, count: number, dayMs: number): Lifelog[] {
	const random = seededRandom(day + 1);
	const slotMs = (15 * 3_600_000) / count;
	return Array.from({ length: count }, (_, nth) => {
		const startMs = dayMs + 7 * 3_600_000 + Math.round(nth * slotMs);
		return lifelogOf(random, `d${day}n${nth}`.padEnd(20, 'x'), startMs, slotMs * 0.8);
	});
}

function lifelogOf(random: () => number, id: string, startMs: number, lengthMs: number): Lifelog {
	const sentence = (length: number) => {
		let text = spoken[Math.floor(random() * spoken.length)];
		for (let n = 1; n < length; n += 1) text += ` ${spoken[Math.floor(random() * spoken.length)]}`;
		return text;
	};
	const title = sentence(5);
	const contents: ContentNode[] = [{ type: 'heading1', content: title }];
	let markdown = `# ${title}`;
	let atMs = 0;
	const time = (ms: number) => new Date(startMs + ms).toISOString();
	while (markdown.length < MARKDOWN_CHARACTERS) {
		const content = sentence(8 + Math.floor(random() * 16));
		const speakerName = SPEAKERS[Math.floor(random() * SPEAKERS.length)];
		const endMs = Math.min(lengthMs, atMs + 4 * SECOND_MS);
		contents.push({
			type: 'blockquote',
			content,
			speakerName,
			speakerIdentifier: speakerName === 'You' ? 'user' : null,
			startOffsetMs: atMs,
			endOffsetMs: endMs,
			startTime: time(atMs),
			endTime: time(endMs),
		});
		markdown += `\n\n> ${speakerName}: ${content}`;
		atMs = endMs;
	}
	const endTime = time(lengthMs);
	return {
		id,
		title,
		markdown,
		contents,
		startTime: time(0),
		endTime,
		isStarred: random() < 0.04,
		updatedAt: endTime,
	};
}
