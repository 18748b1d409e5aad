import { setTimeout as sleep } from 'node:timers/promises';

const RETRIES = 50;
const PAUSE_MS = 50;

/** Retries file operations, because Windows rejects them while another program has the files open. */
export async function onWindowsAgain(work: () => Promise<void>): Promise<void> {
	for (let attempt = 0; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			const mayPass = process.platform === 'win32' && /^(EPERM|EACCES|EBUSY)$/.test(code ?? '');
			if (!mayPass || attempt === RETRIES) throw error;
			await sleep(PAUSE_MS);
		}
	}
}
