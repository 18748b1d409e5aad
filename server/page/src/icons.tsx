// Unlike characters such as ▶, these look the same on every system.

const PATHS = {
	play: 'M7 4.5v15l12-7.5z',
	pause: 'M6 5h4v14H6zM14 5h4v14h-4z',
	pen: 'M4 16.5V20h3.5L18 9.500 14.5 6zM20.7 6.8a1 1 0 0 0 0-1.400l-2.100-2.100a1 1 0 0 0-1.400 0L15.500 5 19 8.500z',
	menu: 'M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z',
	left: 'M15.5 4 17 5.5 10.5 12l6.5 6.500L15.5 20l-8-8z',
	right: 'M8.5 4 7 5.5 13.5 12 7 18.5 8.5 20l8-8z',
	system: 'M3 4h18v13h-7v2h3v1H7v-1h3v-2H3zM5 6v9h14V6z',
	light:
		'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM11 2h2v4h-2zM11 18h2v4h-2zM2 11h4v2H2zM18 11h4v2h-4zM4.2 5.600l1.4-1.4 2.8 2.800L7 8.400zM15.6 17l1.4-1.4 2.8 2.8-1.4 1.400zM4.2 18.4 7 15.6 8.4 17l-2.8 2.800zM15.6 7l2.8-2.8 1.4 1.400L17 8.400z',
	dark: 'M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500z',
};

/** An icon for a control, which needs a label beside it. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
	return (
		<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
			<path d={PATHS[name]} />
		</svg>
	);
}
