// Links for signing in. A file beside the index has the hash of the newest one. Anyone who can
// write there can create links.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writePrivate } from '../../util/restrict.mts';
import { hashOf } from './key.mts';

export const LINK_MINUTES = 15;

const linkFile = (index: string) => `${index}.link`;
const pageFile = (index: string) => `${index}.sign-in.html`;

/** Path of a link, at any address of the server. Proxies don't see the part after `#`. */
export const linkPath = (link: string) => `/#link=${link}`;

/**
 * Creates a link that replaces the previous one.
 *
 * @param owner A file of the server. The link's files get the same owner, because an administrator
 *   may create a link.
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

/** Uses up a link. Returns whether it was valid. */
export function useLink(index: string, link: string, now: number): boolean {
	if (!existsSync(linkFile(index))) return false;
	const [, hash, until] =
		/^([0-9a-f]{64}) (\d+)\n$/.exec(readFileSync(linkFile(index), 'utf8')) ?? [];
	if (hash === undefined || Number(until) < now) return false;
	if (!timingSafeEqual(Buffer.from(hash, 'hex'), hashOf(link))) return false;
	// If this fails, the link must not be accepted.
	removeLink(index);
	return true;
}

/** Removes the link and the page that opens it. */
function removeLink(index: string): void {
	for (const path of [linkFile(index), pageFile(index)]) rmSync(path, { force: true });
}

/**
 * Writes a page that redirects to an address, readable only by its owner. On a command line, every
 * user of the machine could see the address.
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
