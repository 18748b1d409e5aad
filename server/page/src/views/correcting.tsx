import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { changedWords, type Words } from '../changedWords.mts';
import { previewReplacement } from '../replacements.mts';
import { focusLine, type Corrected } from '../useEditing.mts';
import { Offer, Replace } from './replace.tsx';

/** An offer after the words of a line were corrected. */
interface Correcting {
	onCorrected: (corrected: Corrected) => void;
	/** Content below a line. */
	offerOf: (index: number) => ComponentChildren;
	dialog: ComponentChildren;
}

/**
 * Offers to correct words of a line in all lifelogs, too.
 *
 * @param onChanged Called when lifelogs may have changed.
 */
export function useCorrecting(timezone: string, onChanged: () => void): Correcting {
	const [offer, setOffer] = useState<{ index: number; words: Words; lifelogs: number }>();
	const [isOpen, setOpen] = useState(false);
	const latest = useRef<Corrected | undefined>(undefined);
	const close = () => {
		setOpen(false);
		setOffer(undefined);
		focusLine(offer!.index);
	};
	return {
		onCorrected: (corrected) => {
			const { index, before, after } = corrected;
			latest.current = corrected;
			setOffer(undefined);
			const words = changedWords(before, after);
			if (!words) return;
			previewReplacement(words).then(
				({ lifelogs }) => {
					if (lifelogs === 0 || latest.current !== corrected) return;
					setOffer({ index, words, lifelogs });
					requestAnimationFrame(() =>
						document.querySelector('.offer')?.scrollIntoView({ block: 'nearest' }),
					);
				},
				// The line is saved. If the offer fails, the user can still use the page of corrected words.
				() => {},
			);
		},
		offerOf: (index) =>
			offer?.index === index && <Offer {...offer} onChoose={() => setOpen(true)} onClose={close} />,
		dialog: isOpen && offer && (
			<Replace words={offer.words} timezone={timezone} onChanged={onChanged} onClose={close} />
		),
	};
}
