// A run of the example Full archive: its Code nodes as they are, and in place of n8n's own nodes what
// they do. test/n8n runs the whole in n8n.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lifelog } from '../../lifelog/api.ts';
import { lifelogFiles } from '../../server/archive/lifelogFiles.mts';
import { archiveName, cutIntoChunks } from '../../nodes/LifelogAudio/chunks.ts';
import type { TestSandbox } from './sandbox.mts';

const TWO_HOURS_MS = 7_200_000;

interface Item {
	json: Record<string, unknown>;
	binary?: { data: Buffer };
}

interface Example {
	nodes: { name: string; parameters: { jsCode?: string } }[];
}

type Code = (
	this: object,
	$: (name: string) => object,
	$input: object,
	$prevNode: object,
) => Promise<Item[]>;

const { nodes } = JSON.parse(readFileSync('examples/full-archive.json', 'utf8')) as Example;
const AsyncFunction = (async () => {}).constructor as new (...source: string[]) => Code;
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const asItems = (all: object[]) => all.map((json) => ({ json }) as Item);
const access = (items: Item[] | undefined) => ({
	isExecuted: items !== undefined,
	all: () => items,
	first: () => items?.[0],
});

/** What the nodes of one execution have returned, by their names. */
class Execution {
	readonly #items = new Map<string, Item[]>();

	/** Puts items in the place of what a node returns. */
	set(name: string, items: Item[]): Item[] {
		this.#items.set(name, items);
		return items;
	}

	/** Runs a Code node. One without output returns an empty item, as with Always Output Data. */
	async code(name: string, input: Item[], from = ''): Promise<Item[]> {
		const source = nodes.find((node) => node.name === name)!.parameters.jsCode!;
		const run = new AsyncFunction('$', '$input', '$prevNode', source);
		const helpers = {
			getBinaryDataBuffer: async (index: number) => input[index].binary!.data,
			prepareBinaryData: async (data: Buffer) => data,
		};
		const $ = (other: string) => access(this.#items.get(other));
		const items = await run.call({ helpers }, $, access(input), { name: from });
		return this.set(name, items.length > 0 ? items : [{ json: {} }]);
	}
}

/**
 * Archives into a folder what a sandbox has up to yesterday; returns the paths that were stored.
 *
 * @param meanwhile Called for each day, after all but its manifest was stored.
 */
export async function runFullArchive(
	folder: string,
	{ url, apiKey, control }: TestSandbox,
	meanwhile: (day: string) => Promise<void> = async () => {},
): Promise<string[]> {
	const stored: string[] = [];
	const headers = { 'X-API-Key': apiKey };
	const lifelogs = await control.lifelogs();
	const chats = (await control.chats()).filter(({ owner }) => owner === 'self');

	async function read(execution: Execution, beginsWith: string, whole: boolean): Promise<void> {
		execution.set('What to read', [{ json: { whole } }]);
		const names = readdirSync(join(folder, 'days')).filter((name) => name.startsWith(beginsWith));
		const files = names.map((fileName) => ({
			json: { fileName },
			binary: { data: readFileSync(join(folder, 'days', fileName)) },
		}));
		await execution.code('Contents of the files', files);
	}
	async function store(execution: Execution, from: string, items: Item[]): Promise<void> {
		for (const { json, binary } of await execution.code('Files to store', items, from)) {
			if (typeof json.path !== 'string') continue;
			const path = join(folder, json.path);
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, binary!.data);
			stored.push(json.path);
		}
	}

	/** The audio of a range, as the node Lifelog Audio returns it. */
	async function audioOf({ json: { start, end } }: Item): Promise<Item[]> {
		const items: Item[] = [];
		const missingRanges: object[] = [];
		for (const span of cutIntoChunks(spanOf(start, end), TWO_HOURS_MS)) {
			const query = `startMs=${span.startMs}&endMs=${span.endMs}`;
			const answer = await fetch(`${url}/v1/download-audio?${query}`, { headers });
			const data = Buffer.from(await answer.arrayBuffer());
			if (!answer.ok) {
				missingRanges.push(span);
				continue;
			}
			const file = { fileName: archiveName(span), fileSize: data.length, sha256: sha256(data) };
			const gaps = { missingRanges: [], failedRanges: [] };
			items.push({ json: { ...span, ...file, ...gaps }, binary: { data } });
		}
		if (items.length === 0) items.push({ json: { failedRanges: [] } });
		items[0].json.missingRanges = missingRanges;
		return items;
	}

	const plan = new Execution();
	plan.set('Settings', [{ json: { firstDay: '', waitDays: 1, daysBack: 0, report: {} } }]);
	await read(plan, '', false);
	plan.set('All lifelogs', asItems(lifelogs));
	plan.set(
		'All chats',
		asItems(chats.map((chat) => ({ ...chat, messageCount: chat.messages.length }))),
	);
	plan.set('Scheduled chats', asItems(chats.filter((chat) => chat.globalPromptId !== null)));
	const days = await plan.code('Days of the service', []);
	const versioned = days.map(({ json }) => ({
		...json,
		version: sha256(String(json.lines)),
		versionIfIncomplete: sha256(String(json.linesIfIncomplete)),
	}));
	const [{ json: toDo }] = await plan.code('Days to do', asItems(versioned));
	for (const aDay of toDo.days as { day: string; what: string; chats: { id: string }[] }[]) {
		const day = new Execution();
		day.set('A day', asItems([aDay]));
		await read(day, aDay.day, true);
		if (aDay.what !== 'audio') {
			const exported = lifelogs
				.filter(({ startTime }) => startTime.startsWith(aDay.day))
				.flatMap(exportOf);
			await store(day, 'Lifelogs of the day', day.set('Lifelogs of the day', exported));
			if (aDay.chats.length > 0) {
				const asked = await day.code('Its chats', []);
				const raw: object[] = [];
				for (const { json } of asked) {
					const path = `/v1/chats/${String(json.id)}?timezone=UTC`;
					const answer = await fetch(url + path, { headers });
					raw.push((await answer.json()).data.chat);
				}
				const files = await day.code('Chats as files', asItems(raw));
				const checked = files.map(({ json }) => ({ ...json, sha256: sha256(String(json.text)) }));
				await store(day, 'Their checksums', day.set('Their checksums', asItems(checked)));
			}
		}
		const ranges = await day.code('Ranges to ask for', []);
		const audio = (await Promise.all(ranges.map(audioOf))).flat();
		day.set('Audio of the day', audio);
		await store(day, 'Audio to store', await day.code('Audio to store', audio));
		await meanwhile(aDay.day);
		await read(day, aDay.day, true);
		const [{ json }] = await day.code('What the day holds', []);
		const path = `days/${aDay.day}_${sha256(String(json.lines)).slice(0, 16)}.json`;
		const text = `${JSON.stringify(json.file, null, '\t')}\n`;
		await store(day, 'Day manifest', [{ json: { path, text } }]);
	}
	return stored;
}

const spanOf = (start: unknown, end: unknown) => ({
	startMs: Date.parse(String(start)),
	endMs: Date.parse(String(end)),
});

/** A lifelog as the operation Export returns it. */
function exportOf(lifelog: Lifelog): Item[] {
	const { json, markdown } = lifelogFiles(lifelog, 'UTC')!;
	return [json, markdown].map(({ path, content }) => {
		const data = Buffer.from(content);
		const { id: lifelogId, startTime, endTime, updatedAt, isStarred } = lifelog;
		const said = { lifelogId, startTime, endTime, updatedAt, isStarred, path };
		return { json: { ...said, fileSize: data.length, sha256: sha256(data) }, binary: { data } };
	});
}
