declare module 'webvtt-parser' {
	/** The parser of the format's own editors; times are in seconds. */
	export class WebVTTParser {
		parse(
			text: string,
			mode: 'subtitles/captions/descriptions',
		): {
			cues: Array<{ startTime: number; endTime: number; text: string }>;
			errors: Array<{ message: string; line: number }>;
		};
	}
	/** What an ES module gets of it. */
	const module: { WebVTTParser: typeof WebVTTParser };
	export default module;
}
