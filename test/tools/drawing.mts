// The drawing of the house in CONTRIBUTING.md, made of what the files import. `--check` only says
// whether it's still true: node test/tools/drawing.mts [--check]
import { readFile, writeFile } from 'node:fs/promises';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';

const { href } = new URL('dependency-cruiser.mjs', import.meta.url);
const { options } = ((await import(href)) as { default: IConfiguration }).default;
const DOCUMENT = 'CONTRIBUTING.md';
const ROOM = /^(?:\.\.\/)*(lifelog|credentials|nodes\/shared|nodes|server\/[^/.]+)\//;

/** For each room, those that its files import. */
async function importsOfRooms(): Promise<Map<string, Set<string>>> {
	const { output } = await cruise(['lifelog', 'nodes', 'credentials', 'server'], {
		...options,
		ruleSet: {},
	});
	const rooms = new Map<string, Set<string>>();
	for (const { source, dependencies } of (output as ICruiseResult).modules) {
		const room = ROOM.exec(source)?.[1];
		if (room === undefined) continue;
		const imports = rooms.get(room) ?? new Set();
		rooms.set(room, imports);
		for (const { resolved } of dependencies) {
			const imported = ROOM.exec(resolved)?.[1];
			if (imported !== undefined && imported !== room) imports.add(imported);
		}
	}
	return rooms;
}

/** Whether a room reaches another by way of others. */
function isReached(rooms: Map<string, Set<string>>, from: string, to: string): boolean {
	return [...rooms.get(from)!].some(
		(between) => between !== to && (rooms.get(between)!.has(to) || isReached(rooms, between, to)),
	);
}

/** As Mermaid. An arrow that others already lead along is left out. */
function drawingOf(rooms: Map<string, Set<string>>): string {
	const idOf = (room: string) => room.replace('/', '-');
	const arrows = [...rooms].flatMap(([from, imports]) =>
		[...imports]
			.filter((to) => !isReached(rooms, from, to))
			.map((to) => `    ${idOf(from)}["${from}"] --> ${idOf(to)}["${to}"]`),
	);
	return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n');
}

const [before, drawing, after] = (await readFile(DOCUMENT, 'utf8')).split(
	/(?<=<!-- Made by test\/tools\/drawing\.mts -->\n\n)(```mermaid\n[^]*?\n```)/,
);
const made = drawingOf(await importsOfRooms());
if (process.argv.includes('--check')) {
	if (drawing !== made) {
		console.error(`The drawing in ${DOCUMENT} isn't true any more. Run npm run drawing`);
		process.exitCode = 1;
	}
} else await writeFile(DOCUMENT, `${before}${made}${after}`);
