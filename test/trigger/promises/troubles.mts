// What may be wrong with the service, for one request, for a while or for good.

/** How a request fails. */
export type FaultKind =
	| '400'
	| '401'
	| '403'
	| '404'
	| '429'
	| '500'
	| '503'
	| 'html'
	| 'noId'
	| 'cut'
	| 'cutBody'
	| 'hangs';

/** What a request is about: a day, or an entry by its ID. */
export interface Resource {
	of: 'lifelogs' | 'lifelog' | 'chats' | 'chat';
	/** The day of a list of lifelogs, the ID of an entry. */
	name: string;
}

/** What fails: everything, lists, reads by ID, one day, or one entry. */
export type Target =
	{ of: 'all' | 'lists' | 'reads' } | { of: 'day'; day: string } | { of: 'entry'; id: string };

/** Something that is out of order from some moment on. */
export interface Trouble {
	target: Target;
	kind: FaultKind;
	/** When it is over, epoch ms. */
	until: number;
}

/** A request, and how it was answered. */
export interface Answered extends Resource {
	fault?: FaultKind;
	/** Set until it is decided how; polls that overlap see each other's requests. */
	isOpen?: boolean;
	/** Whether it was the last page of a list, answered well. */
	isWhole: boolean;
	/** Whether it asked for a larger page than the service gives. */
	isTooLarge?: boolean;
}

/** Faults after which the same request may well succeed. */
const PASSING: readonly FaultKind[] = ['429', '500', '503', 'cut', 'cutBody', 'hangs'];

export const isPassing = (kind: FaultKind) => PASSING.includes(kind);

export function isMeant({ target, until }: Trouble, resource: Resource, now: number): boolean {
	if (now >= until) return false;
	const isList = resource.of === 'lifelogs' || resource.of === 'chats';
	if (target.of === 'day') return resource.of === 'lifelogs' && resource.name === target.day;
	if (target.of === 'entry') return !isList && resource.name === target.id;
	return target.of === 'all' || isList === (target.of === 'lists');
}
