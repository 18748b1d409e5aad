/** A number as models count speakers: `SPEAKER_00`, `spk_0`, `Speaker 3`, `S3`, `3`, `Speaker A`, `A`. */
const COUNTED = /^(?:(?:speaker|spk)([ _-]?)|s([ _-]?)(?=\p{Nd}))?(\p{Nd}{1,9}|[a-z])$/iu;
/** What stands for somebody of whom nothing is known, and for the wearer. */
const NOBODY = /^(?:|you|speaker|unknown(?:[ _-]speaker)?(?:[ _-]\p{Nd}{1,9})?)$/iu;
/** The part of a recording that a label is of. */
const PART = /^\(\d+\)$/;

/**
 * Whether what a speaker is called is a label: somebody else in each recording, such as `SPEAKER_00 (2)`,
 * `Speaker 3`, `A`, `Unknown`, `You`, or nothing at all. Anything else is a name.
 */
export function isLabel(name: string): boolean {
	return NOBODY.test(withoutPart(name)) || isCounted(name);
}

/** Whether a label counts speakers, so that it is somebody else in each part of a recording, too. */
export function isCounted(name: string): boolean {
	return COUNTED.test(withoutPart(name));
}

/**
 * How the speakers of a lifelog are shown to people: `SPEAKER_00` as `Speaker 1`, `A` as `Speaker A`.
 * Names stay. No two of them are shown alike: one whose form is taken keeps its own.
 *
 * @param names All of the lifelog, in the order of their first words.
 */
export function shownNames(names: string[]): Map<string, string> {
	const taken = new Set(names);
	const shown = new Map<string, string>();
	for (const name of new Set(names)) {
		const form = formOf(name);
		shown.set(name, taken.has(form) ? name : form);
		taken.add(form);
	}
	return shown;
}

/** As a reader sees it: without what is invisible, and full-width letters and blanks as usual ones. */
function asSeen(name: string): string {
	const visible = name.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
	return visible.replace(/\s+/g, ' ').trim();
}

function withoutPart(name: string): string {
	let label = asSeen(name);
	for (;;) {
		const at = label.lastIndexOf('(');
		if (!PART.test(label.slice(at))) return label;
		label = label.slice(0, at).trimEnd();
	}
}

function formOf(name: string): string {
	const label = withoutPart(name);
	const [, separator = '', ofS = '', place] = COUNTED.exec(label) ?? [];
	// Digits of other scripts stay.
	if (place === undefined || !/^\w/.test(place)) return name;
	const part = asSeen(name).slice(label.length).replaceAll(/ ?\(/g, ' (');
	return `Speaker ${shownPlace(place, separator || ofS)}${part}`;
}

/** Programs that write `_` or `00` count from 0. */
function shownPlace(place: string, separator: string): string {
	if (/^\D/.test(place)) return place.toUpperCase();
	const isFromZero = separator === '_' || /^0\d/.test(place);
	return String(Number(place) + Number(isFromZero));
}
