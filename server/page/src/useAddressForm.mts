import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
// The one of the router decodes the address: "R&D" would become "R".
import { useSearch } from 'wouter-preact/use-browser-location';

const PAUSE_MS = 300;

/** What the fields of a form say, by name; a missing one is empty. */
type Fields = Record<string, string | undefined>;

/** A form that is kept in the address. */
export interface AddressForm {
	/** What the address asks for, a pause after somebody types. */
	given: Fields;
	/** The same as a text. */
	address: string;
	/** What the address will ask for then. */
	typed: string;
	/** What the fields show. */
	form: Fields;
	set: (name: string, value: string) => void;
}

/** Keeps the fields of a form in the address of its view. */
export function useAddressForm(path: string): AddressForm {
	const [, navigate] = useLocation();
	const address = String(new URLSearchParams(useSearch()));
	const given = Object.fromEntries(new URLSearchParams(address));
	const [form, setForm] = useState<Fields>(given);
	const filled = Object.entries(form).filter(([, value]) => value !== '') as [string, string][];
	const typed = String(new URLSearchParams(filled));
	const written = useRef(address);
	useEffect(() => {
		const timer = setTimeout(() => {
			// Another view may be about to be shown.
			if (location.pathname !== path) return;
			written.current = typed;
			navigate(typed ? `${path}?${typed}` : path, { replace: true });
		}, PAUSE_MS);
		return () => clearTimeout(timer);
	}, [form]);
	useEffect(() => {
		// Somebody followed a link to another one.
		if (address !== written.current) setForm(given);
		written.current = address;
	}, [address]);
	const set = (name: string, value: string) => setForm((before) => ({ ...before, [name]: value }));
	return { given, address, typed, form, set };
}
