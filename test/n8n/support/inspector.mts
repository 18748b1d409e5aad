import { join } from 'node:path';
import type { SpawnedServer } from '../../support/lifelogServer.mts';
import { INSPECTOR_FOLDER, installInspector } from '../install.mts';
import { runProgram } from './processes.mts';
import { temporaryFolder } from './server.mts';

/**
 * Asks the MCP server of a lifelog-server by the command line of the MCP Inspector, as its manual has
 * it: `mcp-inspector --cli <address> --method tools/list`.
 *
 * @returns What it prints, parsed. Rejects with what it wrote when it fails.
 */
export async function inspect<Answer>(
	{ url, apiKey }: Pick<SpawnedServer, 'url' | 'apiKey'>,
	args: string[],
): Promise<Answer> {
	await installInspector();
	const inspector = join(INSPECTOR_FOLDER, 'node_modules', '@modelcontextprotocol', 'inspector');
	const program = join(inspector, 'clients', 'launcher', 'build', 'index.js');
	const at = [`${url}/mcp`, '--transport', 'http', '--header', `X-API-Key: ${apiKey}`];
	// It keeps what it knows of servers in its user's folder.
	const home = await temporaryFolder('lifelog-inspector');
	try {
		const env = { ...process.env, HOME: home.path };
		return JSON.parse(
			await runProgram(process.execPath, [program, '--cli', ...at, ...args], { env }),
		);
	} finally {
		await home.remove();
	}
}
