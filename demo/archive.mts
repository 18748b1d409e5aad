// A day archived by the nodes of the example Full archive. Its other nodes are n8n's own, which only a
// whole n8n has: what they do, storing the files and writing the file of the day, is done here.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import type { Chat } from '../nodes/shared/api-types.d.ts';
import { entryPath, folderOf, instantOf } from '../check-archive/layout.mts';
import { nameOfDay, type DayFile, type NamedFile } from '../server/archive/layout.mts';
import type { RunResult, WorkflowJson } from '../test/support/engine.mts';

/** Runs a workflow on the items that its trigger gives; throws what made it fail. */
export type Run = (workflow: WorkflowJson, input: INodeExecutionData[]) => Promise<RunResult>;

/** What an archive of a day holds. */
export interface ArchivedDay {
	lifelogs: number;
	chats: number;
	audioBytes: number;
	files: number;
}

/** The nodes of Full archive, each to be run by itself on the items that it gets there. */
async function stepsOf(run: Run) {
	const example = JSON.parse(await readFile('examples/full-archive.json', 'utf8')) as WorkflowJson;
	return async (name: string, input: IDataObject[]) => {
		const node = example.nodes.find((each) => each.name === name)!;
		// The nodes ask "A day" which one it is.
		const start: INode = {
			...{ id: 'start', name: 'A day', type: 'n8n-nodes-base.manualTrigger' },
			...{ typeVersion: 1, position: [0, 0], parameters: {} },
		};
		const connections = { 'A day': { main: [[{ node: name, type: 'main' as const, index: 0 }]] } };
		const workflow = { nodes: [start, node], connections, settings: { timezone: 'UTC' } };
		const result = await run(
			workflow,
			input.map((json) => ({ json })),
		);
		return { result, items: result.items(name) };
	};
}

/**
 * Archives the lifelogs and chats of a day (YYYY-MM-DD, UTC), and the audio of one range of it, into a
 * folder, as docs/archive.md has it.
 *
 * @param range Unix milliseconds, within two hours.
 */
export async function archiveDay(
	run: Run,
	folder: string,
	day: string,
	range: { startMs: number; endMs: number },
): Promise<ArchivedDay> {
	const step = await stepsOf(run);
	let files = 0;
	const store = async (path: string, content: Buffer): Promise<NamedFile> => {
		await mkdir(dirname(join(folder, path)), { recursive: true });
		await writeFile(join(folder, path), content);
		files++;
		return { path, bytes: content.length, sha256: sha256(content) };
	};
	const { lifelogs, chats, audio }: Pick<DayFile, 'lifelogs' | 'chats' | 'audio'> = {
		...{ lifelogs: {}, chats: {}, audio: [] },
	};

	const exported = await step('Lifelogs of the day', [{ day }]);
	for (const item of exported.items) {
		const { lifelogId, path, updatedAt, isStarred } = item.json as unknown as Exported;
		const entry = (lifelogs[lifelogId] ??= { updatedAt, isStarred, files: [] });
		entry.files.push(await store(path, await exported.result.binary(item, 'data')));
	}

	const scheduled = new Set((await step('Scheduled chats', [{}])).items.map(({ json }) => json.id));
	const ofDay = (await step('All chats', [{}])).items.filter(({ json }) =>
		String(json.createdAt).startsWith(day),
	);
	const ids = ofDay.map(({ json: { id } }) => ({ id }));
	for (const { json } of ids.length > 0 ? (await step('Chat', ids)).items : []) {
		const chat = json as unknown as Chat;
		const path = `${entryPath('chats', chat.id, instantOf(chat.createdAt))}.json`;
		chats[chat.id] = {
			messages: chat.messages.length,
			isScheduled: scheduled.has(chat.id),
			files: [await store(path, Buffer.from(JSON.stringify(chat)))],
		};
	}

	const [start, end] = [range.startMs, range.endMs].map((ms) => new Date(ms).toISOString());
	const downloaded = await step('Audio of the day', [{ start, end }]);
	for (const item of downloaded.items.filter(({ binary }) => binary)) {
		const { startMs, endMs, fileName } = item.json as {
			startMs: number;
			endMs: number;
		} & IDataObject;
		const path = `${folderOf('audio/pendant', day)}/${fileName}`;
		const file = await store(path, await downloaded.result.binary(item, 'data'));
		audio.push({ startMs, endMs, ...file });
	}

	const archivedAt = new Date().toISOString();
	const dayFile = {
		...{ version: 1 as const, day, lifelogs, chats, audio },
		...{ missingAudio: [], archivedAt, isComplete: false },
		failed: [{ what: 'audio', message: 'the demo asks for that of one conversation' }],
	};
	await store(`days/${nameOfDay(dayFile)}`, Buffer.from(JSON.stringify(dayFile, null, '\t')));
	const audioBytes = audio.reduce((sum, { bytes }) => sum + bytes, 0);
	const counts = [lifelogs, chats].map((entries) => Object.keys(entries).length);
	return { lifelogs: counts[0], chats: counts[1], audioBytes, files };
}

/** What Export Lifelogs says of a file, as far as the file of a day does. */
interface Exported {
	lifelogId: string;
	path: string;
	updatedAt: string;
	isStarred: boolean;
}

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
