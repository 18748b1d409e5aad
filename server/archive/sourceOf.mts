/** How the IDs begin of lifelogs that were made here by the API. */
export const MADE = 'made-';
/** How those begin that were made from recordings. */
export const RECORDED = 'recorded-';

/** Where a lifelog comes from, by its ID. Imported lifelogs are the service's. */
export function sourceOf(id: string): 'service' | 'api' | 'recording' {
	if (id.startsWith(MADE)) return 'api';
	return id.startsWith(RECORDED) ? 'recording' : 'service';
}
