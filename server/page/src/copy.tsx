import { useState } from 'preact/hooks';
import { Problem } from './parts.tsx';
import { useAttempt } from './useAttempt.mts';

/** Copies a text that is created on request. */
export function CopyButton({
	name,
	shortcut,
	text,
}: {
	name: string;
	shortcut: string;
	text: () => Promise<string>;
}) {
	const [problem, attempt] = useAttempt();
	const [isCopied, setCopied] = useState(false);
	// Missing over plain HTTP.
	if (!navigator.clipboard) return null;
	// Browsers only allow copying directly after a click, so the clipboard gets a promise of the text.
	const copy = async () => {
		const blob = text().then((made) => new Blob([made], { type: 'text/plain' }));
		await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
		setCopied(true);
	};
	return (
		<>
			<button type="button" aria-keyshortcuts={shortcut} onClick={() => attempt(copy())}>
				{isCopied ? 'Copied' : name}
			</button>
			<Problem text={problem} />
		</>
	);
}
