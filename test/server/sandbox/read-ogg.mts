// Reads Ogg Opus from stdin with a parser of somebody else's and prints what it found as JSON.
// A program of its own, as Jest cannot import that parser.
import { buffer } from 'node:stream/consumers';
import Parser, { type OggPage } from 'codec-parser';

const problems: string[] = [];
console.warn = console.error = (...words: unknown[]) => problems.push(words.join(' '));

let codec = '';
const parser = new Parser('audio/ogg', {
	enableLogging: true,
	onCodec: (name) => (codec = name),
});
const pages = parser.parseAll(await buffer(process.stdin)) as OggPage[];
const frames = pages.flatMap(({ codecFrames }) => codecFrames);
console.log(
	JSON.stringify({
		codec,
		serials: [...new Set(pages.map(({ streamSerialNumber }) => streamSerialNumber))],
		frameMs: frames.reduce((sum, { duration }) => sum + duration, 0),
		problems,
	}),
);
