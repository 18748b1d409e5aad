// Exports that are made to fill the memory; the disk is in importLimits.soak.mts.
import { statSync } from 'node:fs';
import {
	audioFolder,
	chat,
	folder,
	imported,
	lifelog,
	MiB,
	noon,
	plan,
	zipped,
} from '../../support/importLimits.mts';
import type { ZipFile } from '../../support/zip.mts';
import { temporaryFolder } from '../sources.mts';

describe('memory stays below 300 MiB', () => {
	function* many(count: number, name: (n: number) => string): Generator<ZipFile> {
		for (let n = 0; n < count; n += 1) yield { name: name(n) };
	}
	const page = (flags: number, segments: number[], body: Buffer) => {
		const header = Buffer.alloc(27);
		header.write('OggS');
		header[5] = flags;
		header[26] = segments.length;
		return Buffer.concat([header, Buffer.from(segments), body]);
	};
	const head = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
	const recording = (first: Buffer, rest: Buffer, bytes: number): ZipFile => ({
		name: `${audioFolder}/2025-12-03_12h00m00s.ogg`,
		content: Buffer.concat([
			first,
			Buffer.alloc(Math.floor(bytes / rest.length) * rest.length, rest),
		]),
	});
	const stream = (flags: number) => page(flags, [head.length], head);
	const partOfPacket = (flags: number) =>
		page(flags, Array(255).fill(255), Buffer.alloc(255 * 255));

	test.each<[string, () => Iterable<ZipFile>, number, string]>([
		[
			'100,000 files of no use',
			() => [...many(100_000, (n) => `${folder}/pictures/of-the-day-${n}.jpg`), plan],
			0,
			'Imported: 1 lifelog',
		],
		[
			'120,000 files with long names',
			() => many(120_000, (n) => `${folder}/2025-12-03_12h00m00s_${`${n}`.padEnd(80, '-')}.md`),
			2,
			'too many files for one import. Nothing was imported. Unpack it',
		],
		[
			'names in 450 folders',
			() => many(30_000, (n) => `lifelogs/${'a/'.repeat(450)}漢${n}.md`),
			2,
			'too many files for one import',
		],
		[
			'names in 30,000 folders',
			() => [...many(1500, (n) => `lifelogs/${'a/'.repeat(30_000)}漢${n}.md`), plan],
			1,
			'a… has a path of more than 1000 characters',
		],
		[
			'a lifelog of 800,000 lines',
			() => [lifelog('a', 'a\n\n'.repeat(0.8 * MiB)), plan],
			1,
			'has more than 50,000 lines',
		],
		[
			'the largest lifelog',
			() => [lifelog('a', `${'# a\n'.repeat(49_000)}${'"'.repeat(2.2 * MiB)}漢`)],
			0,
			'Imported: 1 lifelog',
		],
		[
			'a front matter of 2 MiB',
			() => [lifelog('a', `---\na: [${'a,'.repeat(1.1 * MiB)}]\n---\n# A`)],
			0,
			'Imported: 1 lifelog',
		],
		[
			'the largest lifelog, among as many files as can be',
			() => [
				lifelog('a', `${'# a\n'.repeat(49_000)}${'"'.repeat(2.2 * MiB)}漢`),
				...many(18_000, (n) => `lifelogs/2025/12/03/${'a/'.repeat(460)}漢${n}.md`),
			],
			1,
			'Imported: 1 lifelog',
		],
		[
			'lifelogs of many lines',
			() =>
				Array.from({ length: 8 }, (_, n) => lifelog(`${n}`, `# ${n}\n${'a\n\n'.repeat(49_000)}`)),
			0,
			'Imported: ',
		],
		[
			'control characters',
			() => [lifelog('a', '\x01'.repeat(2.4 * MiB)), plan],
			1,
			"isn't text: it has more than 1000 control characters",
		],
		[
			'a chat of a million lists',
			() => [chat('a', `[${'[],'.repeat(MiB)}0]`), plan],
			1,
			'is too large: the maximum is 1 MiB',
		],
		['the largest chat', () => [chat('a', `[${'[],'.repeat(MiB / 3.1)}0]`)], 0, '1 chat'],
		[
			'a chat of half a million levels',
			() => [chat('a', '['.repeat(MiB / 2.1) + ']'.repeat(MiB / 2.1)), plan],
			1,
			'is nested too deep',
		],
		[
			'a chat of 300,000 messages',
			() => [
				{
					...chat('a', ''),
					content: `{"createdAt":${noon},"messages":[${'{},'.repeat(MiB / 3.1)}{}]}`,
				},
				plan,
			],
			1,
			'has more than 10,000 messages',
		],
		[
			'a packet of 200 MiB',
			() => [
				recording(Buffer.concat([stream(2), partOfPacket(0)]), partOfPacket(1), 200 * MiB),
				plan,
			],
			1,
			'contains no Opus audio',
		],
		[
			'a million streams of audio',
			() => [recording(stream(6), stream(6), 50 * MiB), plan],
			1,
			'has headers above 16 MiB',
		],
	])('%s', (_what, files, status, message) => {
		const { peak, ...result } = imported(zipped(files()), temporaryFolder());
		expect(`${result.stdout}${result.stderr}`).toContain(message);
		expect(result.status).toBe(status);
		expect(peak).toBeGreaterThan(30);
		expect(peak).toBeLessThan(300);
	});
});

test('66,000 files with 40 GiB need as much memory as one file', () => {
	function* large(): Generator<ZipFile> {
		for (let n = 0; n < 66_000; n += 1) yield { name: `${folder}/pictures/of-the-day-${n}.jpg` };
		// In front of the lifelog, which is behind 4 GiB then.
		yield { name: 'meetings/2025/12/03/all-day.wav', zeros: 40 * 2 ** 30 };
		yield plan;
	}
	const small = imported(zipped([plan]), temporaryFolder());
	const zip = zipped(large());
	expect(statSync(zip).size).toBeGreaterThan(40 * 2 ** 30);
	expect(statSync(zip).blocks * 512).toBeLessThan(64 * MiB);
	const { stdout, peak } = imported(zip, temporaryFolder());
	expect(stdout).toContain('Imported: 1 lifelog');
	// Mebibytes. What is kept of each file is its place in the zip.
	expect(peak - small.peak).toBeLessThan(64);
});
