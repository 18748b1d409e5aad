import { execFileSync } from 'node:child_process';

test('a clone on Windows (core.autocrlf) has the same line endings', () => {
	const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '--eol'], {
		encoding: 'utf8',
	})
		.trim()
		.split('\n');
	const isText = (file: string) => !file.startsWith('i/-text');
	expect(files.filter((file) => isText(file) && !file.includes('eol=lf'))).toEqual([]);
	expect(files.filter((file) => file.startsWith('i/crlf') || file.startsWith('i/mixed'))).toEqual(
		[],
	);
});
