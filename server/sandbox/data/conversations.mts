import type { Faker } from '@faker-js/faker';
import { DateTime } from 'luxon';
import type { ContentNode } from '../../../lifelog/api.ts';
import { homeZone } from './period.mts';
import { fillers, scenes, subheadings, words, type Scene } from './scenes.mts';

/** The people in the generated data: names by role. */
export type Cast = Record<string, string[]>;

/** Generates the people around the user. */
export function inventCast(faker: Faker): Cast {
	const names = faker.helpers.uniqueArray(() => faker.person.firstName(), 20);
	const take = (count: number) => names.splice(0, count);
	return {
		partner: take(1),
		kid: take(2),
		boss: take(1),
		colleague: take(3),
		colleague2: take(2),
		client: take(2),
		friend: take(2),
		friend2: take(2),
		neighbour: take(1),
		doctor: [`Dr. ${faker.person.lastName()}`],
		mother: ['Mum'],
		teacher: [`Ms. ${faker.person.lastName()}`],
		trainer: take(1),
		stranger: ['Unknown'],
	};
}

interface Line {
	text: string;
	/** Index of the speaker; 0 is the user. */
	speaker: number;
}

/** Generates a conversation that fits the hour and weekday: title and contents. */
export function writeConversation(
	faker: Faker,
	cast: Cast,
	start: number,
	end: number,
): { title: string; contents: ContentNode[] } {
	const scene = faker.helpers.arrayElement(scenesAt(start));
	const fill = wordFiller(faker, cast);
	const speakers = ['You', ...scene.with.map((role) => fill(`{${role}}`))];
	const title = fill(faker.helpers.arrayElement(scene.titles));
	const topics = faker.helpers
		.arrayElements(Object.entries(scene.topics), { min: 2, max: 3 })
		.map(([heading, lines]) => ({
			heading: fill(heading),
			lines: pickLines(faker, lines, speakers.length).map(({ text, speaker }) => ({
				text: fill(text),
				speaker,
			})),
		}));
	return { title, contents: layOut(faker, title, topics, speakers, start, end) };
}

function scenesAt(ms: number): Scene[] {
	const time = DateTime.fromMillis(ms, { zone: homeZone });
	const hour = time.hour + time.minute / 60;
	const today = time.weekday > 5 ? 'weekend' : 'workday';
	const fitting = scenes.filter(
		({ hours, days = today }) => days === today && hours[0] <= hour && hour < hours[1],
	);
	return fitting.length > 0 ? fitting : scenes;
}

/** Returns a function that replaces each `{word}`, always with the same choice. */
function wordFiller(faker: Faker, cast: Cast): (text: string) => string {
	const chosen = new Map<string, string>();
	const choose = (word: string) => {
		const known = chosen.get(word);
		if (known !== undefined) return known;
		const choice = faker.helpers.arrayElement(cast[word] ?? words[word]);
		chosen.set(word, choice);
		return choice;
	};
	return (text) => text.replaceAll(/\{(\w+)\}/g, (_match, word: string) => choose(word));
}

function pickLines(faker: Faker, lines: string[], speakers: number): Line[] {
	let speaker = faker.number.int({ max: speakers - 1 });
	return faker.helpers.arrayElements(lines, { min: 4, max: lines.length }).flatMap((text) => {
		const line = { text, speaker };
		speaker = (speaker + faker.number.int({ min: 1, max: Math.max(1, speakers - 1) })) % speakers;
		if (!faker.datatype.boolean(0.2)) return [line];
		const answer = { text: faker.helpers.arrayElement(fillers), speaker };
		speaker = (speaker + 1) % speakers;
		return [line, answer];
	});
}

/** Assigns times to lines and headings, in proportion to the length of the lines. */
function layOut(
	faker: Faker,
	title: string,
	topics: { heading: string; lines: Line[] }[],
	speakers: string[],
	start: number,
	end: number,
): ContentNode[] {
	const letters = topics
		.flatMap(({ lines }) => lines)
		.reduce((sum, { text }) => sum + text.length, 0);
	const msPerLetter = (end - start) / letters;
	const node = (type: string, content: string, from: number, to: number): ContentNode => ({
		type,
		content,
		startTime: new Date(start + from).toISOString(),
		endTime: new Date(start + to).toISOString(),
		startOffsetMs: from,
		endOffsetMs: to,
		children: [],
	});
	let spoken = 0;
	const say = ({ text, speaker }: Line): ContentNode => {
		const from = Math.round(spoken * msPerLetter);
		spoken += text.length;
		return {
			...node('blockquote', text, from, Math.round(spoken * msPerLetter)),
			speakerName: speakers[speaker],
			speakerIdentifier: speaker === 0 ? 'user' : null,
		};
	};
	const over = (type: string, content: string, nodes: ContentNode[]): ContentNode =>
		node(type, content, nodes[0].startOffsetMs ?? 0, nodes[nodes.length - 1].endOffsetMs ?? 0);

	const sections = topics.flatMap(({ heading, lines }) => {
		const quotes = lines.map(say);
		const section = over('heading2', heading, quotes);
		if (quotes.length < 6 || faker.datatype.boolean()) return [section, ...quotes];
		const rest = quotes.splice(Math.ceil(quotes.length / 2));
		const part = over('heading3', faker.helpers.arrayElement(subheadings), rest);
		return [section, ...quotes, { ...part, children: rest }];
	});
	return [node('heading1', title, 0, end - start), ...sections];
}
