// Debian's Chromium, driven by playwright-core, which brings no browser of its own.
import { type Browser, chromium } from 'playwright-core';
import { cleanupOnExit } from './cleanup.mts';

const ARGUMENTS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** Starts Chromium without a window; it is closed with this process at the latest. */
export async function startBrowser(): Promise<Browser> {
	const browser = await chromium.launch({
		executablePath: '/usr/bin/chromium',
		args: ARGUMENTS,
		handleSIGINT: false,
		handleSIGTERM: false,
		timeout: 120_000,
	});
	const close = cleanupOnExit({
		orderly: async () => await browser.close(),
		// Playwright's own doing.
		immediate: () => undefined,
	});
	browser.once('disconnected', () => void close());
	return browser;
}
