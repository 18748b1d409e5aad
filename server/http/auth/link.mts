// Links that sign in. The hash of the newest one is in a file beside the index. Anyone who can write
// there can make a link.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writePrivate } from '../../util/restrict.mts';
import { hashOf } from './key.mts';

/** How long a link can be used. */
export const LINK_MINUTES = 15;

const linkFile = (index: string) => `${index}.link`;
const pageFile = (index: string) => `${index}.sign-in.html`;

/** Where a link leads, at any address of the server. No proxy sees what comes after `#`. */
export const linkPath = (link: string) => `/#link=${link}`;

/**
 * Makes a link, in place of the one before.
 *
 * @param owner A file of the server, whose owner gets the link's, too: the administrator may make one.
 */
export function makeLink(index: string, owner: string, now: number): string {
	removeLink(index);
	const link = randomBytes(32).toString('base64url');
	const until = now + LINK_MINUTES * 60_000;
	writePrivate(linkFile(index), `${hashOf(link).toString('hex')} ${until}\n`);
	if (process.getuid?.() === 0) {
		const { uid, gid } = statSync(owner);
		chownSync(linkFile(index), uid, gid);
	}
	return link;
}

/** Uses a link up. Returns whether it was valid. */
export function useLink(index: string, link: string, now: number): boolean {
	if (!existsSync(linkFile(index))) return false;
	const [, hash, until] =
		/^([0-9a-f]{64}) (\d+)\n$/.exec(readFileSync(linkFile(index), 'utf8')) ?? [];
	if (hash === undefined || Number(until) < now) return false;
	if (!timingSafeEqual(Buffer.from(hash, 'hex'), hashOf(link))) return false;
	// If this fails, the link isn't used.
	removeLink(index);
	return true;
}

/** Removes the link and the page that leads to it. */
function removeLink(index: string): void {
	for (const path of [linkFile(index), pageFile(index)]) rmSync(path, { force: true });
}

/**
 * Writes a page that leads on to an address, and that only its owner can read: an address on a command
 * line is shown to every user of the machine.
 *
 * @returns Its path.
 */
export function writeLinkPage(index: string, address: string): string {
	const page = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Lifelogs</title>
<p><a href="${address}">Sign in</a></p>
`;
	writePrivate(pageFile(index), page);
	return pageFile(index);
}
