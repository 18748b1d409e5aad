import { LANGUAGE } from './format.mts';

/** Language codes that most transcription models know. */
const CODES =
	'af ar az be bg bs ca cs cy da de el en es et fa fi fr gl he hi hr hu hy id is it ja kk kn ko lt lv mi mk mr ms ne nl no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh'.split(
		' ',
	);

let named: { code: string; name: string }[] | undefined;

/** Languages to choose from, sorted by name. */
export function languages(): { code: string; name: string }[] {
	const names = new Intl.DisplayNames(LANGUAGE, { type: 'language' });
	named ??= CODES.map((code) => ({ code, name: names.of(code) ?? code })).sort((a, b) =>
		a.name.localeCompare(b.name),
	);
	return named;
}
