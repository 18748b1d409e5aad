// n8n's own check of community packages, on which verification depends: npm run scan
import { resolve } from 'node:path';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';
import { pack } from '../../n8n/support/package.mts';
import { runProgram } from '../../n8n/support/processes.mts';
import { temporaryFolder } from '../../n8n/support/server.mts';

const { path: folder } = await temporaryFolder('lifelog-scan');
await runProgram('tar', ['-xzf', await pack(folder), '-C', folder], {});

const scans = [
	{ what: 'the sources', scan: await analyzePackage(resolve('.'), SOURCE_FILE_PATTERNS) },
	{ what: 'the tarball', scan: await analyzePackage(resolve(folder, 'package')) },
];
for (const { what, scan } of scans) {
	// Where it has found no file it says that it passed, and has a message.
	const isClean = scan.passed && scan.message === undefined;
	console.log(`${what}: ${isClean ? 'nothing to object to' : (scan.details ?? scan.message)}`);
	if (!isClean) process.exitCode = 1;
}
