// Declares and reads options of commands, from the command line or variables.
import { join } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { distance } from 'fastest-levenshtein';
import { IANAZone } from 'luxon';
import { commandName } from './commandLine.mts';

export interface Declared<Value> {
	/** `--port <n>`; a switch has no value. */
	flags: string;
	about: string;
	/** Its heading in the help. */
	group: string;
	/** Its environment variable; undefined for options that only a person types. */
	variable: string | undefined;
	/** Default, as typed. */
	fallback: string | undefined;
	/** Throws an Error whose message continues the option's name, such as `must be a whole number`. */
	read: (text: string) => Value;
}

export type Options = Record<string, Declared<unknown>>;

/** Values of options by name. */
export type Values<Some extends Options> = {
	[Name in keyof Some]: Some[Name] extends Declared<infer Value> ? Value : never;
};

export interface DeclaredCommand<Some extends Options = Options> {
	name: string;
	/** The program, if it isn't lifelog-server. */
	program?: string;
	/** `<folder>` */
	operands: string;
	/** Description of the operands, after "Give". */
	operandsAre: string;
	about: string;
	/** Purpose, below the usage. */
	description: string;
	options: Some;
	/** Variables with secrets, and their descriptions. */
	secrets: Record<string, string>;
	/** Pairs of contradicting options. */
	exclusive: [string, string][];
	/** At the end of the help. */
	exitCodes: string;
}

/** Parsed arguments of a command. */
export interface Given<Some extends Options> {
	operands: string[];
	values: Values<Some>;
	/** The source of an option's value: `--port` or `LIFELOG_PORT`; undefined for the default. */
	sourceOf: (name: keyof Some & string) => string | undefined;
	problems: string[];
}

interface More {
	/** Overrides the default name: LIFELOG_ and the option's name. */
	variable?: string;
	fallback?: string;
}

/** Without a terminal. */
const HELP_WIDTH = 100;
const SWITCH: Record<string, boolean> = { true: true, 1: true, false: false, 0: false, '': false };

export function option<Value>(
	flags: string,
	about: string,
	read: (text: string) => Value,
	more: More & { fallback: string },
): Declared<Value>;
export function option<Value>(
	flags: string,
	about: string,
	read: (text: string) => Value,
	more?: More,
): Declared<Value | undefined>;
export function option<Value>(
	flags: string,
	about: string,
	read: (text: string) => Value,
	{ variable = variableOf(flags), fallback }: More = {},
): Declared<Value> {
	return { flags, about, group: 'Options', variable, fallback, read };
}

/** A boolean option. Its variable only accepts certain values, because others would be ambiguous. */
export function toggle(flags: string, about: string, variable?: string): Declared<boolean> {
	const read = (text: string) => {
		if (SWITCH[text] !== undefined) return SWITCH[text];
		throw new Error('must be true, 1, false, 0 or empty');
	};
	return option(flags, about, read, { variable, fallback: '' });
}

/** Puts options below a heading of the help. */
export function group<Some extends Options>(heading: string, options: Some): Some {
	return Object.fromEntries(
		Object.entries(options).map(([name, each]) => [name, { ...each, group: heading }]),
	) as Some;
}

/** Options that only a person types. */
export function withoutVariables<Some extends Options>(options: Some): Some {
	return Object.fromEntries(
		Object.entries(options).map(([name, each]) => [name, { ...each, variable: undefined }]),
	) as Some;
}

export const text = (given: string) => given;

export const wholeNumber =
	(min = 0, max = Infinity) =>
	(given: string): number => {
		const value = Number(given);
		if (/^\d+$/.test(given) && value >= min && value <= max) return value;
		throw new Error(`must be a whole number${max === Infinity ? '' : ` from ${min} to ${max}`}`);
	};

export const oneOf =
	<Word extends string>(...words: Word[]) =>
	(given: string): Word => {
		const word = words.find((each) => each === given);
		if (word !== undefined) return word;
		throw new Error(`must be one of ${words.join(', ')}${suggestion(given, words)}`);
	};

/** Words separated by commas. */
export const someOf =
	<Word extends string>(...words: Word[]) =>
	(given: string): Set<Word> => {
		const names = given.split(',').map((name) => name.trim());
		const unknown = names.find((name) => !words.includes(name as Word));
		if (unknown === undefined) return new Set(names as Word[]);
		const nearest = suggestion(unknown, words);
		throw new Error(`takes ${words.join(', ')}, separated by commas, not "${unknown}"${nearest}`);
	};

export function day(given: string): string {
	const ms = Date.parse(`${given}T00:00:00Z`);
	const isDay = /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(ms);
	if (isDay && new Date(ms).toISOString().startsWith(given)) return given;
	throw new Error(`must be a day such as 2025-01-31, not "${given}"`);
}

export function timezone(given: string): string {
	if (IANAZone.isValidZone(given)) return given;
	throw new Error(`must be a name such as Europe/Berlin, not ${given}`);
}

/** The given time zone, or the system's. */
export function timezoneOr(given: string | undefined): string {
	const zone = given ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (IANAZone.isValidZone(zone)) return zone;
	throw new Error(`--timezone must be a name such as Europe/Berlin: the system's is ${zone}`);
}

/** The default of `--index`. */
export const defaultIndex = (folder: string) => join(folder, '.lifelog-index.sqlite');

/** `--port` of `--port <n>`. */
export const nameOf = ({ flags }: Pick<Declared<unknown>, 'flags'>) => flags.split(' ')[0];

const variableOf = (flags: string) =>
	`LIFELOG_${nameOf({ flags }).slice(2).toUpperCase().replaceAll('-', '_')}`;

/**
 * Reads the arguments of a command. The command line overrides variables.
 *
 * @returns undefined if the help was requested and printed.
 */
export function readCommand<Some extends Options>(
	declared: DeclaredCommand<Some>,
	args: string[],
): Given<Some> | undefined {
	const command = commandOf(declared);
	const problems: string[] = [];
	const { operands, unknown } = parse(command, args, problems);
	if (unknown.some((arg) => arg === '--help' || arg === '-h')) {
		process.stdout.write(helpOf(declared));
		return undefined;
	}
	const names = Object.values(declared.options).map(nameOf);
	const unknownOptions = unknown.filter((arg) => arg.startsWith('-') && arg !== '--');
	for (const arg of unknownOptions) problems.push(unknownOption(arg, names));
	const wanted = declared.operands.split(' ').filter(Boolean).length;
	if (operands.length > wanted) problems.push(`Unknown argument '${operands[wanted]}'`);
	else if (problems.length === 0 && (operands.length < wanted || operands.includes(''))) {
		problems.push(
			`Give ${declared.operandsAre}: ${commandName} ${declared.name} ${declared.operands}`,
		);
	}
	const values: Record<string, unknown> = {};
	const sources: Record<string, string | undefined> = {};
	for (const [name, each] of Object.entries(declared.options)) {
		const { source, value = each.fallback } = givenOf(command, each);
		sources[name] = source;
		try {
			// A script passes an empty value if its own variable isn't set.
			if (source === nameOf(each) && (value === '' || value?.startsWith('--'))) {
				throw new Error('needs a value');
			}
			values[name] = value === undefined ? undefined : each.read(value);
		} catch (error) {
			problems.push(`${source} ${(error as Error).message}`);
			values[name] = each.fallback === undefined ? undefined : each.read(each.fallback);
		}
	}
	for (const pair of declared.exclusive) {
		const [a, b] = pair;
		const isSet = (name: string) => values[name] !== undefined && values[name] !== false;
		if (!isSet(a) || !isSet(b)) continue;
		const fromVariable = pair.filter((name) => !sources[name]!.startsWith('--'));
		if (fromVariable.length === 1) {
			const { fallback, read } = declared.options[fromVariable[0]];
			values[fromVariable[0]] = fallback === undefined ? undefined : read(fallback);
			sources[fromVariable[0]] = undefined;
		} else problems.push(`${sources[a]} and ${sources[b]} can't be used together`);
	}
	return {
		...{ operands, problems, values: values as Values<Some> },
		sourceOf: (name) => sources[name],
	};
}

function helpOf(declared: DeclaredCommand): string {
	const secrets = Object.entries(declared.secrets);
	const width = Math.max(...secrets.map(([name]) => name.length));
	const lines = secrets.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`);
	const keys =
		secrets.length === 0
			? ''
			: `\nKeys, only as variables (add _FILE to the name for a file with the key):\n${lines.join('')}`;
	const example = Object.values(declared.options).find(
		(each) => each.variable === variableOf(each.flags),
	);
	const variables =
		example === undefined
			? ''
			: `\nEvery option is also a variable, such as ${example.variable} for ${nameOf(example)}. The command line wins.\n`;
	return `${commandOf(declared).helpInformation()}${keys}${variables}${declared.exitCodes}`;
}

/** Suggests the nearest name; empty if none is near. */
export function suggestion(given: string, names: readonly string[]): string {
	const near = names
		.map((name) => ({ name, far: distance(given.toLowerCase(), name.toLowerCase()) }))
		.filter(({ name, far }) => far <= mostTypos(bareLength(name)))
		.sort((a, b) => a.far - b.far);
	return near.length === 0 ? '' : `. Did you mean ${near[0].name}?`;
}

/** Two swapped letters count as two typos. */
const mostTypos = (length: number) => Math.max(length < 4 ? 1 : 2, Math.floor(length / 3));
const bareLength = (name: string) => name.replace(/^(--|LIFELOG_)/, '').length;

/** Warnings about variables that start with LIFELOG_ but belong to no command, with the nearest name. */
export function unknownVariables(commands: DeclaredCommand[]): string[] {
	const options = commands.flatMap((each) => Object.values(each.options));
	const secrets = commands.flatMap((each) => Object.keys(each.secrets));
	const known = new Set([
		...options.flatMap(({ variable }) => variable ?? []),
		...secrets.flatMap((name) => [name, `${name}_FILE`]),
	]);
	return Object.keys(process.env)
		.filter((name) => name.startsWith('LIFELOG_') && !known.has(name))
		.map((name) => {
			const others = options.filter((each) => variableOf(each.flags) === name);
			const meant = [...new Set(others.flatMap(({ variable }) => variable ?? []))].join(' or ');
			const nearest = meant ? `. Did you mean ${meant}?` : suggestion(name, [...known]);
			return `The variable ${name} isn't known${nearest}`;
		});
}

function commandOf(declared: DeclaredCommand): Command {
	const { name, program = commandName, operands, description, options } = declared;
	const lastGroup = `${Object.values(options).at(-1)!.group}:`;
	const command = new Command(`${program} ${name}`.trim())
		.usage(`${operands} [options]`.trim())
		.description(description)
		.addHelpOption(new Option('-h, --help', 'print this').helpGroup(lastGroup))
		.configureOutput({
			writeErr: () => {},
			getOutHelpWidth: () => process.stdout.columns ?? HELP_WIDTH,
		})
		.exitOverride();
	for (const each of Object.values(options)) {
		const { flags, about, variable, fallback } = each;
		const isOwn = variable === undefined || variable === variableOf(flags);
		const added = new Option(flags, isOwn ? about : `${about} (variable: ${variable})`);
		if (fallback) added.default(fallback, fallback);
		command.addOption(added.helpGroup(`${each.group}:`));
	}
	return command;
}

function parse(
	command: Command,
	args: string[],
	problems: string[],
): { operands: string[]; unknown: string[] } {
	try {
		return command.parseOptions(args);
	} catch (error) {
		if (!(error instanceof CommanderError)) throw error;
		const [, flags] = /'(.*)'/.exec(error.message) ?? [];
		problems.push(`${flags} needs a value`);
		return { operands: [], unknown: [] };
	}
}

function unknownOption(arg: string, names: string[]): string {
	const [name] = arg.split('=');
	if (names.includes(name)) return `${name} takes no value`;
	// Its value may be a secret.
	return `Unknown option '${name}'${suggestion(name, [...names, '--help', '--version'])}`;
}

/** The source of an option, and its value as text. An empty variable counts as unset. */
function givenOf(command: Command, each: Declared<unknown>): { source?: string; value?: string } {
	const declared = new Option(each.flags);
	const attribute = declared.attributeName();
	if (command.getOptionValueSource(attribute) === 'cli') {
		// Commander interprets `--no-open` as the opposite of `--open`.
		const value = declared.negate ? true : command.getOptionValue(attribute);
		return { source: nameOf(each), value: String(value) };
	}
	const value = each.variable && process.env[each.variable];
	return value ? { source: each.variable, value } : {};
}

/** Lists options and secrets with values and sources, one per line. Secrets are redacted. */
export function describeConfig<Some extends Options>(
	declared: DeclaredCommand<Some>,
	{ operands, values, sourceOf }: Given<Some>,
): string {
	const options = Object.entries(declared.options).filter(([, { variable }]) => variable);
	const rows = [
		...operands.map((operand) => [declared.operands, operand, 'command line']),
		...options.map(([name, each]) => {
			const source = sourceOf(name);
			const from = source === undefined ? 'default' : source.replace(/^--.*/, 'command line');
			return [nameOf(each), shown(values[name]), from];
		}),
		...Object.keys(declared.secrets).map((name) => {
			const from = [name, `${name}_FILE`].find((each) => process.env[each]);
			return [name, from ? '(redacted)' : '', from ?? 'default'];
		}),
	];
	const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)));
	return rows
		.map(([name, value, from]) => `${name.padEnd(widths[0])}  ${value.padEnd(widths[1])}  ${from}`)
		.join('\n');
}

const shown = (value: unknown) =>
	value instanceof Set ? [...value].join(',') : [value].flat().join(',');
