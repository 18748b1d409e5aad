/** ID prefix of lifelogs created by the API. */
export const MADE = 'made-';
/** ID prefix of lifelogs made from recordings. */
export const RECORDED = 'recorded-';

/** The origin of a lifelog, by its ID. Imported lifelogs are the service's. */
export function sourceOf(id: string): 'service' | 'api' | 'recording' {
	if (id.startsWith(MADE)) return 'api';
	return id.startsWith(RECORDED) ? 'recording' : 'service';
}
