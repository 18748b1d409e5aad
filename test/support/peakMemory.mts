// Loaded into a command with --import: writes its peak memory, in MiB, to the file PEAK_MEMORY.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

process.on('exit', () => {
	// What Node.js reports may be the peak of the process that started this one.
	const status = '/proc/self/status';
	const ofLinux =
		existsSync(status) && /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(status, 'utf8'))?.[1];
	const kilobytes = ofLinux ? Number(ofLinux) : process.resourceUsage().maxRSS;
	writeFileSync(process.env.PEAK_MEMORY!, String(kilobytes / 1024));
});
