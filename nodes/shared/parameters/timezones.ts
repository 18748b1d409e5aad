import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

/** Fills the list of the option Time Zone: the zones that the runtime knows, and UTC. */
export async function getTimezones(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);
	return [...zones].map((zone) => ({ name: zone, value: zone }));
}
