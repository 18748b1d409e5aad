// The tables in docs/reference/options.md, made of the options that the commands declare. `--check`
// only says whether they are still true: node test/tools/options.mts [--check]
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { COMMANDS } from '../../server/cli/commands.mts';
import type { DeclaredCommand } from '../../server/util/options.mts';

const DOCUMENT = 'docs/reference/options.md';
const MADE = '<!-- Made by test/tools/options.mts -->';

const sentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}`;
const code = (text: string | undefined) => (text ? `\`${text}\`` : '');

function tableOf({ name, operands, options, secrets }: DeclaredCommand): string {
	const rows = [
		...Object.values(options).map(({ flags, variable, fallback, about }) => [
			...[code(flags), code(variable), code(fallback), sentence(about)],
		]),
		...Object.entries(secrets).map(([variable, about]) => [
			...['', code(variable), '', sentence(about)],
		]),
	];
	const lines = [['Option', 'Variable', 'Default', 'Meaning'], ['-', '-', '-', '-'], ...rows];
	const table = lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
	return `## ${name}\n\n\`lifelog-server ${name} ${operands}\`\n\n${table}`;
}

const before = await readFile(DOCUMENT, 'utf8');
const [head] = before.split(MADE);
const made = await format(`${head}${MADE}\n\n${COMMANDS.map(tableOf).join('\n\n')}\n`, {
	...(await resolveConfig(DOCUMENT)),
	filepath: DOCUMENT,
});
if (process.argv.includes('--check')) {
	if (made !== before) {
		console.error(`The tables in ${DOCUMENT} aren't true any more. Run npm run options`);
		process.exitCode = 1;
	}
} else await writeFile(DOCUMENT, made);
