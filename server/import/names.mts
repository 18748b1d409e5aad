/** A UTC time in names of the export, and the text after it. */
const LIFELOG_NAME = /^(\d{4})-(\d\d)-(\d\d)_(\d\d)h(\d\d)m(\d\d)s(?:_(.*))?$/;
/** Times in names of other recordings: ISO 8601, long or short, and epoch ms. */
const ISO_NAME = /(\d{4})-?(\d\d)-?(\d\d)[T_ -](\d\d)[h:_-]?(\d\d)[m:_-]?(\d\d)s?(?:[.,](\d{3}))?/;
const EPOCH_NAME = /(?<!\d)(\d{13})(?!\d)/;

const DAY_FOLDERS = /(?:^|\/)(\d{4})\/(\d\d)\/(\d\d)\//;

/** The file name of a path, without extension. */
function stem(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
}

/** The start (epoch ms, whole seconds) and the title in a file name of the export. */
export function readName(path: string): { begin?: number; title: string } {
	const match = LIFELOG_NAME.exec(stem(path));
	const begin = match ? instant(match.slice(1, 7)) : undefined;
	return {
		begin,
		title: (begin === undefined ? stem(path) : (match?.[7] ?? '')).replaceAll('-', ' '),
	};
}

/** The start of a recording in its name, epoch ms; undefined without one. */
export function readRecordingName(path: string): number | undefined {
	const name = stem(path);
	const epoch = EPOCH_NAME.exec(name);
	const iso = ISO_NAME.exec(name);
	const begin = epoch ? Number(epoch[1]) : iso ? instant(iso.slice(1, 8)) : undefined;
	return begin !== undefined && isTime(begin) ? begin : undefined;
}

/** The day of a file of the export by its name or folder, `YYYY-MM-DD`. */
export function dayOfPath(path: string): string {
	const begin = readName(path).begin ?? readRecordingName(path);
	if (begin !== undefined) return new Date(begin).toISOString().slice(0, 10);
	return DAY_FOLDERS.exec(path)?.slice(1).join('-') ?? '';
}

/** Whether an instant, epoch ms, is plausible for a recording. */
export function isTime(ms: number): boolean {
	return ms >= Date.UTC(2000, 0) && ms < Date.UTC(2100, 0);
}

function instant([year, month, date, hours, minutes, seconds, ms]: string[]): number | undefined {
	const iso = `${year}-${month}-${date}T${hours}:${minutes}:${seconds}.${ms ?? '000'}Z`;
	const time = Date.parse(iso);
	// Not February 30, which some parsers read as a day in March.
	const isOne = !Number.isNaN(time) && new Date(time).toISOString() === iso && isTime(time);
	return isOne ? time : undefined;
}
