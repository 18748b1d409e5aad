import { Link } from 'wouter-preact';
import { readNeighbors } from '../api.mts';
import { useLoad } from '../useLoad.mts';

/** Links to the previous and the next lifelog. */
export function LifelogNeighbors({ id }: { id: string }) {
	// The lifelog itself reports errors.
	const { value } = useLoad(`neighbors of ${id}`, () => readNeighbors(id));
	if (!value?.previous && !value?.next) return null;
	const { previous, next } = value;
	return (
		<nav class="neighbors" aria-label="Lifelogs before and after">
			{previous ? (
				<Link href={`/lifelogs/${encodeURIComponent(previous.id)}`} aria-keyshortcuts="[">
					← <bdi>{previous.title || 'Untitled'}</bdi>
				</Link>
			) : (
				<span />
			)}
			{next && (
				<Link href={`/lifelogs/${encodeURIComponent(next.id)}`} aria-keyshortcuts="]">
					<bdi>{next.title || 'Untitled'}</bdi> →
				</Link>
			)}
		</nav>
	);
}
