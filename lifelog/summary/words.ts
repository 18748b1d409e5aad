export const LANGUAGES = ['en', 'de', 'es', 'fr'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The words of a summary that aren't the service's. */
export interface Words {
	title: (day: string) => string;
	/** A date as luxon's tokens, with the names that Intl knows. */
	dateFormat: string;
	lifelogs: (count: number, isStarred?: boolean) => string;
	none: (isStarred?: boolean) => string;
	inAll: (length: string) => string;
	starredOf: (count: number) => string;
	whoTookPart: string;
	starred: string;
	whatHappened: string;
	more: (count: number) => string;
	underAMinute: string;
	hours: string;
	minutes: string;
	untitled: string;
	continued: string;
	part: (nth: number, count: number) => string;
}

const noun = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
/** The first for both kinds, then for starred and unstarred lifelogs. */
const byStar = <T>(isStarred: boolean | undefined, [both, starred, unstarred]: [T, T, T]): T => {
	if (isStarred === undefined) return both;
	return isStarred ? starred : unstarred;
};

export const WORDS: Record<Language, Words> = {
	en: {
		title: (day) => `Daily summary: ${day}`,
		dateFormat: 'cccc, d LLLL yyyy',
		lifelogs: (count, isStarred) =>
			noun(
				count,
				byStar(isStarred, ['lifelog', 'starred lifelog', 'unstarred lifelog']),
				byStar(isStarred, ['lifelogs', 'starred lifelogs', 'unstarred lifelogs']),
			),
		none: (isStarred) =>
			`There are no ${byStar(isStarred, ['', 'starred ', 'unstarred '])}lifelogs on this day`,
		inAll: (length) => `${length} in all`,
		starredOf: (count) => `${count} starred`,
		whoTookPart: 'Who took part:',
		starred: 'Starred',
		whatHappened: 'What happened',
		more: (count) => `and ${count} more`,
		underAMinute: 'under 1 min',
		hours: 'h',
		minutes: 'min',
		untitled: 'Untitled',
		continued: '(continued)',
		part: (nth, count) => `(${nth} of ${count})`,
	},
	de: {
		title: (day) => `Tagesrückblick: ${day}`,
		dateFormat: 'cccc, d. LLLL yyyy',
		lifelogs: (count, isStarred) =>
			`${noun(count, 'Lifelog', 'Lifelogs')}${byStar(isStarred, ['', ' mit Stern', ' ohne Stern'])}`,
		none: (isStarred) =>
			`Keine Lifelogs${byStar(isStarred, ['', ' mit Stern', ' ohne Stern'])} an diesem Tag`,
		inAll: (length) => `insgesamt ${length}`,
		starredOf: (count) => `${count} mit Stern`,
		whoTookPart: 'Mit dabei:',
		starred: 'Mit Stern',
		whatHappened: 'Was passiert ist',
		more: (count) => `und ${count} weitere`,
		underAMinute: 'unter 1 Min.',
		hours: 'Std.',
		minutes: 'Min.',
		untitled: 'Ohne Titel',
		continued: '(Fortsetzung)',
		part: (nth, count) => `(${nth} von ${count})`,
	},
	es: {
		title: (day) => `Resumen del día: ${day}`,
		dateFormat: "cccc, d 'de' LLLL 'de' yyyy",
		lifelogs: (count, isStarred) =>
			noun(
				count,
				byStar(isStarred, ['lifelog', 'lifelog destacado', 'lifelog no destacado']),
				byStar(isStarred, ['lifelogs', 'lifelogs destacados', 'lifelogs no destacados']),
			),
		none: (isStarred) =>
			`No hay lifelogs${byStar(isStarred, ['', ' destacados', ' no destacados'])} este día`,
		inAll: (length) => `${length} en total`,
		starredOf: (count) => noun(count, 'destacado', 'destacados'),
		whoTookPart: 'Participantes:',
		starred: 'Destacados',
		whatHappened: 'Qué pasó',
		more: (count) => `y ${count} más`,
		underAMinute: 'menos de 1 min',
		hours: 'h',
		minutes: 'min',
		untitled: 'Sin título',
		continued: '(continuación)',
		part: (nth, count) => `(${nth} de ${count})`,
	},
	fr: {
		title: (day) => `Résumé de la journée : ${day}`,
		dateFormat: 'cccc d LLLL yyyy',
		lifelogs: (count, isStarred) =>
			noun(
				count,
				byStar(isStarred, ['lifelog', 'lifelog favori', 'lifelog non favori']),
				byStar(isStarred, ['lifelogs', 'lifelogs favoris', 'lifelogs non favoris']),
			),
		none: (isStarred) =>
			`Aucun lifelog${byStar(isStarred, ['', ' favori', ' non favori'])} ce jour-là`,
		inAll: (length) => `${length} au total`,
		starredOf: (count) => noun(count, 'favori', 'favoris'),
		whoTookPart: 'Participants :',
		starred: 'Favoris',
		whatHappened: 'Ce qui s’est passé',
		more: (count) => `et ${count} de plus`,
		underAMinute: 'moins de 1 min',
		hours: 'h',
		minutes: 'min',
		untitled: 'Sans titre',
		continued: '(suite)',
		part: (nth, count) => `(${nth} sur ${count})`,
	},
};
