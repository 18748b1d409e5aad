// The workflows of examples/, brought into an n8n as a user brings them in.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { IDataObject, INode } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import type { Lab } from './lab.mts';
import type { Execution, SavedWorkflow } from './rest.mts';

const folder = resolve(import.meta.dirname, '../../../examples');

/** What a user sets after the import, by the name of the node. */
export interface Changes {
	/** Fields of the node `Settings`. */
	settings?: Record<string, string | number>;
	/** Parameters of nodes. */
	parameters?: Record<string, IDataObject>;
	/** Credentials of nodes, in place of those that the example names. */
	credentials?: Record<string, INode['credentials']>;
	/** Nodes to switch on (true) or off. */
	enabled?: Record<string, boolean>;
	/** The Timezone in the settings of the workflow. */
	timezone?: string;
}

/** An example as its file has it. */
export async function readExample(name: string): Promise<WorkflowJson & { name: string }> {
	return JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));
}

/**
 * Stores an example in n8n, which finds the credentials by the names that the example gives them,
 * and sets what the user sets.
 *
 * @throws Error when a change names what the example does not have, or a credential is not there.
 */
export async function importExample(
	{ rest }: Lab,
	name: string,
	changes: Changes = {},
): Promise<SavedWorkflow> {
	const example = await readExample(name);
	const node = (nodeName: string): INode => {
		const found = example.nodes.find((each) => each.name === nodeName);
		if (!found) throw new Error(`${name} has no node "${nodeName}"`);
		return found;
	};
	for (const [field, value] of Object.entries(changes.settings ?? {})) {
		const { assignments } = node('Settings').parameters as {
			assignments: { assignments: Array<{ name: string; value: unknown }> };
		};
		const setting = assignments.assignments.find((each) => each.name === field);
		if (!setting) throw new Error(`${name} has no setting "${field}"`);
		setting.value = value;
	}
	for (const [nodeName, parameters] of Object.entries(changes.parameters ?? {})) {
		Object.assign(node(nodeName).parameters, parameters);
	}
	for (const [nodeName, credentials] of Object.entries(changes.credentials ?? {})) {
		node(nodeName).credentials = credentials;
	}
	for (const [nodeName, enabled] of Object.entries(changes.enabled ?? {})) {
		node(nodeName).disabled = !enabled;
	}
	if (changes.timezone) example.settings = { ...example.settings, timezone: changes.timezone };
	const saved = await rest.createWorkflow(example, example.name);
	for (const each of saved.nodes.filter(({ disabled }) => !disabled)) {
		for (const [type, credential] of Object.entries(each.credentials ?? {})) {
			if (!credential.id) {
				throw new Error(`${name}: no ${type} credential is named "${credential.name}"`);
			}
		}
	}
	return saved;
}

/** Runs a stored example again on the items that its trigger gave, as "Copy to editor" does. */
export async function repeat(
	lab: Lab,
	workflow: SavedWorkflow,
	trigger: string,
	items: IDataObject[],
): Promise<Execution> {
	const { versionId } = await lab.rest.workflow(workflow.id);
	const pinData = { [trigger]: items.map((json) => ({ json })) };
	await lab.rest.call('PATCH', `/workflows/${workflow.id}`, { versionId, pinData });
	return await runExample(lab, workflow, trigger);
}

/** Runs a stored example from one of its triggers and returns the ended execution. */
export async function runExample(
	{ rest }: Lab,
	workflow: SavedWorkflow,
	trigger: string,
	timeoutMs?: number,
): Promise<Execution> {
	return await rest.execution(await rest.run(workflow, trigger), timeoutMs);
}
