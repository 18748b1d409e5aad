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
	/** Credentials of nodes, in place of the only ones of their type. */
	credentials?: Record<string, INode['credentials']>;
	/** Nodes to switch on (true) or off. */
	enabled?: Record<string, boolean>;
	/** The Timezone in the settings of the workflow. */
	timezone?: string;
}

/** The credential that each node of the examples takes; that of an HTTP Request is a parameter. */
const CREDENTIAL_TYPES: Record<string, string> = {
	'@n8n/n8n-nodes-langchain.lmChatOpenAi': 'openAiApi',
	'@n8n/n8n-nodes-langchain.mcpClientTool': 'mcpOAuth2Api',
	'n8n-nodes-base.dropbox': 'dropboxOAuth2Api',
	'n8n-nodes-base.emailSend': 'smtp',
	'n8n-nodes-base.googleDrive': 'googleDriveOAuth2Api',
	'n8n-nodes-base.googleDriveTrigger': 'googleDriveOAuth2Api',
	'n8n-nodes-base.notion': 'notionApi',
	'n8n-nodes-base.s3': 's3',
	'n8n-nodes-base.slack': 'slackApi',
	'n8n-nodes-base.slackTrigger': 'slackApi',
	'n8n-nodes-base.telegram': 'telegramApi',
	'n8n-nodes-base.telegramTrigger': 'telegramApi',
	'n8n-nodes-base.todoist': 'todoistApi',
};

/** The type of credential that a node of an example takes; undefined if it takes none. */
export function credentialTypeOf({ type, parameters }: INode): string | undefined {
	if (type.startsWith('n8n-nodes-lifelog.')) return 'lifelogApi';
	return (parameters.nodeCredentialType as string | undefined) ?? CREDENTIAL_TYPES[type];
}

/** An example as its file has it. */
export async function readExample(name: string): Promise<WorkflowJson & { name: string }> {
	return JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));
}

/**
 * Stores an example in n8n with the credentials that a user chooses, and sets what the user sets.
 *
 * @throws Error when a change names what the example does not have, or a credential is not there.
 */
export async function importExample(
	{ rest, credentials: own }: Lab,
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
	for (const [nodeName, enabled] of Object.entries(changes.enabled ?? {})) {
		node(nodeName).disabled = !enabled;
	}
	const stored = await rest.credentials();
	for (const each of example.nodes.filter(({ disabled }) => !disabled)) {
		const type = credentialTypeOf(each);
		const chosen = changes.credentials?.[each.name];
		if (chosen) each.credentials = chosen;
		if (chosen || type === undefined) continue;
		const credential = own[type] ?? stored.find((one) => one.type === type);
		if (!credential) throw new Error(`${name}: there is no ${type} credential`);
		each.credentials = { [type]: { id: credential.id, name: credential.name } };
	}
	if (changes.timezone) example.settings = { ...example.settings, timezone: changes.timezone };
	return await rest.createWorkflow(example, example.name);
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
