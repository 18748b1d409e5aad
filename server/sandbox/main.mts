import { fail, serveUntilStopped, throwIfAny } from '../util/commandLine.mts';
import {
	type DeclaredCommand,
	option,
	readCommand,
	text,
	toggle,
	wholeNumber,
	withoutVariables,
} from '../util/options.mts';
import { listOperations, contract } from '../http/contract.mts';
import type { Status } from './control.mts';
import { startSandbox, type Sandbox } from './server.mts';
import { asError } from '../util/errors.mts';

const PROGRAM = 'npm run sandbox --';

function time(given: string): string {
	if (!Number.isNaN(Date.parse(given))) return given;
	throw new Error('must be an ISO date-time, e.g. 2026-03-01T12:00:00Z');
}

const declared = {
	...{ name: '', program: PROGRAM, about: '', operands: '', operandsAre: '' },
	description: 'Serves an invented life through the API.',
	options: withoutVariables({
		port: option('--port <n>', 'port of the service, 0 for any free one', wholeNumber(), {
			fallback: '8788',
		}),
		controlPort: option('--control-port <n>', 'port of the control interface', wholeNumber(), {
			fallback: '0',
		}),
		seed: option('--seed <n>', 'seed of the generated data', wholeNumber(), { fallback: '1' }),
		days: option('--days <n>', 'days of data, today being the last', wholeNumber(), {
			fallback: '31',
		}),
		key: option('--key <text>', 'the API key to accept', text, { fallback: 'sandbox-key' }),
		now: option('--now <iso>', 'fixes the clock, e.g. 2026-03-01T12:00:00Z', time),
		json: toggle('--json', 'print one line of JSON when ready; stop when stdin closes'),
	}),
	secrets: {},
	exclusive: [],
	exitCodes: '',
} satisfies DeclaredCommand;

async function main(): Promise<void> {
	const given = readCommand(declared, process.argv.slice(2));
	if (!given) return;
	throwIfAny(given.problems);
	const { json, key: apiKey, ...options } = given.values;
	const sandbox = await startSandbox({ ...options, apiKey });
	const { url, controlUrl } = sandbox;
	serveUntilStopped(sandbox.close, json ? { url, controlUrl, apiKey } : undefined);
	if (!json) console.log(await describe(sandbox));
}

async function describe({ url, controlUrl, apiKey }: Sandbox): Promise<string> {
	const response = await fetch(`${controlUrl}/status`);
	const { lifelogs, chats, first, last } = (await response.json()) as Status;
	const endpoints = listOperations(contract).map(
		({ method, path }) => `    ${method.padEnd(6)} ${path}`,
	);
	return `The lifelog sandbox is running (Ctrl+C stops it). All data is invented.

  Address    ${url}
  API key    ${apiKey}   (header X-API-Key)
  Data       ${lifelogs} lifelogs, ${first?.slice(0, 10)} to ${last?.slice(0, 10)} (UTC); ${chats} chats
  Endpoints
${endpoints.join('\n')}
  Control    ${controlUrl}   (see server/sandbox/README.md)

Try it:
  curl -H 'X-API-Key: ${apiKey}' '${url}/v1/lifelogs?limit=1&includeContents=false'`;
}

main().catch((error: unknown) => fail(asError(error), `${PROGRAM} `));
