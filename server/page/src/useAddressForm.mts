import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
// The router's own hook decodes the address: "R&D" would become "R".
import { useSearch } from 'wouter-preact/use-browser-location';

const PAUSE_MS = 300;

/** Values of a form's fields by name; missing ones are empty. */
type Fields = Record<string, string | undefined>;

/** A form whose values are kept in the address. */
export interface AddressForm {
	/** Values in the address, updated a moment after typing. */
	given: Fields;
	/** The same as a string. */
	address: string;
	/** The address after the pending update. */
	typed: string;
	/** Values in the fields. */
	form: Fields;
	set: (name: string, value: string) => void;
}

/** Keeps the values of a form in the address of its view. */
export function useAddressForm(path: string): AddressForm {
	const [, navigate] = useLocation();
	const address = String(new URLSearchParams(useSearch()));
	const given = Object.fromEntries(new URLSearchParams(address));
	const [form, setForm] = useState<Fields>(given);
	const filled = Object.entries(form).filter(([, value]) => value !== '') as [string, string][];
	const typed = String(new URLSearchParams(filled));
	/** The address that the values in the fields came from or were written to. */
	const known = useRef(address);
	useEffect(() => {
		const timer = setTimeout(() => {
			// The user may just have followed a link, also to other values.
			const now = String(new URLSearchParams(location.search));
			if (location.pathname !== path || now !== known.current) return;
			known.current = typed;
			navigate(typed ? `${path}?${typed}` : path, { replace: true });
		}, PAUSE_MS);
		return () => clearTimeout(timer);
	}, [form]);
	useEffect(() => {
		// The user followed a link to other values.
		if (address !== known.current) setForm(given);
		known.current = address;
	}, [address]);
	const set = (name: string, value: string) => setForm((before) => ({ ...before, [name]: value }));
	return { given, address, typed, form, set };
}
