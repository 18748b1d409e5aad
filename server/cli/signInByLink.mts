import { rmSync } from 'node:fs';
import open from 'open';
import { Access } from '../http/auth/access.mts';
import { LINK_MINUTES, linkPath, makeLink, writeLinkPage } from '../http/auth/link.mts';
import type { RunningServer } from '../http/startServer.mts';

/** How to sign in from a terminal. */
export interface SignIn {
	address: string;
	/** Whether it was opened in a browser. */
	isOpened: boolean;
}

/**
 * Creates a link, and opens it in a browser unless one has signed in before.
 *
 * @param mayOpen Whether opening a browser is allowed.
 */
export async function signInByLink(
	{ access, address: server }: RunningServer,
	index: string,
	mayOpen: boolean,
): Promise<SignIn> {
	const address = server + linkPath(makeLink(index, Access.fileOf(index), Date.now()));
	const { SSH_CONNECTION, SSH_TTY, CI } = process.env;
	// The browser would open on a machine where nobody sees it.
	const isElsewhere = Boolean(SSH_CONNECTION || SSH_TTY || CI);
	const isOpened = mayOpen && !isElsewhere && access.sessions.length === 0;
	if (isOpened) await openBrowser(writeLinkPage(index, address));
	return { address, isOpened };
}

async function openBrowser(page: string): Promise<void> {
	const remove = () => rmSync(page, { force: true });
	process.once('exit', remove);
	setTimeout(remove, LINK_MINUTES * 60_000).unref();
	const opening = await open(page);
	// Without a browser, the address is still printed.
	opening.on('error', () => {});
}
