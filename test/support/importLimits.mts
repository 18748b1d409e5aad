// Exports that are made to fill the disk or the memory, and their import.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../server/sources.mts';
import { writeZip, type ZipFile } from './zip.mts';

export const MiB = 2 ** 20;
export const noon = Date.parse('2025-12-03T12:00:00Z');
export const folder = 'lifelogs/2025/12/03';
export const audioFolder = 'audio/pendant/2025/12/03';
export const said = `# Plan\n\n> [1](#startMs=${noon}&endMs=${noon + 5000}): Yes.\n`;
export const plan: ZipFile = { name: `${folder}/2025-12-03_12h00m00s_Plan.md`, content: said };

/** A lifelog's Markdown, made of a text that is repeated. */
export const lifelog = (name: string, content: string): ZipFile => ({
	name: `${folder}/2025-12-03_13h00m00s_${name}.md`,
	content,
});
export const chat = (name: string, more: string): ZipFile => ({
	name: `chats/2025/12/03/${name}.json`,
	content: `{"createdAt":${noon},"messages":[],"more":${more}}`,
});

export function zipped(files: Iterable<ZipFile>): string {
	const path = join(temporaryFolder(), 'export.zip');
	writeZip(path, files);
	return path;
}

/** Imports as it is typed, and measures the memory that this takes at most, in MiB. */
export function imported(zip: string, archive: string) {
	const peak = join(temporaryFolder(), 'peak');
	const measured = ['--import', join(process.cwd(), 'test/support/peakMemory.mts')];
	const command = [...measured, 'server/lifelog-server.cjs', 'import', zip, archive];
	const env = { ...process.env, PEAK_MEMORY: peak };
	const { status, stdout, stderr } = spawnSync(process.execPath, command, {
		encoding: 'utf8',
		env,
	});
	return { status, stdout, stderr, peak: Number(readFileSync(peak, 'utf8')) };
}
