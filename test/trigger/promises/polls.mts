// Judges single polls, whatever they look for: by what the service answered, and what came of it.
import { Broken } from './promises.mts';
import type { World } from './service.mts';
import { budgetMs, type EngineKind, type PollSeen } from './stage.mts';
import { type Answered, isPassing } from './troubles.mts';

const MAX_REQUESTS = 250;
const MAX_CHAT_READS = 40;
/** How long after a 429 a poll may fail without a request. */
const SHUT_MS = 62_000;

/** Whether the service failed; an entry that is gone is an answer. */
const isFailure = ({ of, fault }: Answered) =>
	fault !== undefined && !(fault === '404' && (of === 'lifelog' || of === 'chat'));

const isSameRequest = (a: Answered, b: Answered) => a.of === b.of && a.name === b.name;

/**
 * The failures after which the same was not answered in the same poll; an entry without ID is
 * passed over, and said less often.
 */
function lasting(log: Answered[]): Answered[] {
	return log.filter(
		(one, index) =>
			isFailure(one) &&
			one.fault !== 'noId' &&
			!log.slice(index).some((later) => isSameRequest(later, one) && !isFailure(later)),
	);
}

/** Whether every request of a poll was answered, and well. */
export const isWell = ({ log, error }: PollSeen) =>
	!error && log !== undefined && !log.some(({ fault }) => fault !== undefined);

/** @throws Broken */
export function evaluatePoll(poll: PollSeen, world: World, engine: EngineKind): void {
	const { log, error, items, isActivation, hasState, began, ended } = poll;
	if (!log) return;
	const failures = log.filter(isFailure);
	const isShut = began - world.limitedAt <= SHUT_MS;
	const when = `poll at ${new Date(began).toISOString()}`;
	const said = error ? `: ${error.message}` : '';

	if (error && failures.length === 0 && !isShut) {
		throw new Broken('no-false-alarm', `${when} failed though the service did not${said}`);
	}
	const isRefused = failures.some(({ fault }) => !isPassing(fault!));
	if (error && isActivation && !isRefused) {
		throw new Broken('publishing', `${when} would not activate${said}`);
	}
	if (!hasState && !error && log.length > 0 && log.every(({ fault }) => fault === '401')) {
		throw new Broken('publishing', `${when} activates though the key is refused`);
	}
	const isSilent = !error && items === null && hasState && !isActivation;
	const hasOwnTrouble = world.troubles.some(({ target: { of } }) => of === 'day' || of === 'entry');
	const mustShow = engine === 'memory' || (log.every(isFailure) && !hasOwnTrouble);
	if (isSilent && mustShow && lasting(log).length > 0) {
		const [{ of, name, fault }] = lasting(log);
		throw new Broken('failure-shows', `${when} is silent, but ${of} ${name} failed (${fault})`);
	}
	const chatReads = log.filter(({ of }) => of === 'chat').length;
	if (log.length > MAX_REQUESTS || chatReads > MAX_CHAT_READS) {
		throw new Broken('bounded', `${when} made ${log.length} requests`);
	}
	if (ended - began > budgetMs(engine, isActivation)) {
		throw new Broken('in-time', `${when} took ${(ended - began) / 1000} s`);
	}
}
