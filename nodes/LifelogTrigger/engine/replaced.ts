// A saved state that can't be read is replaced. The log and the next execution say so.
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

const REPLACED =
	"The trigger's saved state could not be read and was replaced: everything that exists now counts as known";
const REPLACED_ADVICE =
	'Anything new or changed since the last successful poll was not reported. From now on, everything is reported again. This message appears only once.';

/** The static data whose next poll fails; the durable engine copies it. */
const replaced = new WeakSet<object>();

export function noteReplaced(context: IPollFunctions, staticData: IDataObject): void {
	replaced.add(staticData);
	context.logger.error(`Lifelog Trigger: ${REPLACED}`);
}

/** @throws NodeOperationError once after the state was replaced. */
export function failIfReplaced(context: IPollFunctions, staticData: IDataObject): void {
	if (!replaced.delete(staticData)) return;
	throw new NodeOperationError(context.getNode(), REPLACED, { description: REPLACED_ADVICE });
}
