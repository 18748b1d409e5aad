import { parseArgs } from 'node:util';
import { fail, serveUntilStopped, wholeNumber } from '../util/commandLine.mts';
import { listOperations, contract } from '../http/contract.mts';
import type { Status } from './control.mts';
import { startSandbox, type Sandbox } from './server.mts';
import { asError } from '../util/errors.mts';

const usage = `Usage: npm run sandbox -- [options]

  --port <n>          port of the service (default 8787; 0: any free one)
  --control-port <n>  port of the control interface (default 0)
  --seed <n>          seed of the generated data (default 1)
  --days <n>          days of data, today being the last (default 31)
  --key <text>        the API key to accept (default sandbox-key)
  --now <iso>         fixes the clock, e.g. 2026-03-01T12:00:00Z (default: real time)
  --json              print one line of JSON when ready; stop when stdin closes
  --help              print this
`;

const optional = (name: string, text: string | undefined): number | undefined =>
	text === undefined ? undefined : wholeNumber(name, text);

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '8787' },
			'control-port': { type: 'string' },
			seed: { type: 'string' },
			days: { type: 'string' },
			key: { type: 'string' },
			now: { type: 'string' },
			json: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(usage);
		return;
	}
	if (values.now !== undefined && Number.isNaN(Date.parse(values.now))) {
		throw new Error('--now must be an ISO date-time, e.g. 2026-03-01T12:00:00Z');
	}
	const sandbox = await startSandbox({
		port: wholeNumber('port', values.port),
		controlPort: optional('control-port', values['control-port']),
		seed: optional('seed', values.seed),
		days: optional('days', values.days),
		apiKey: values.key,
		now: values.now,
	});
	const { url, controlUrl, apiKey } = sandbox;
	serveUntilStopped(sandbox.close, values.json ? { url, controlUrl, apiKey } : undefined);
	if (!values.json) console.log(await describe(sandbox));
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

main().catch((error: unknown) => fail(asError(error), 'npm run sandbox -- '));
