import { useEffect, useRef, useState } from 'preact/hooks';
import { audioAddress, readAudioSpans, type AudioSpan } from './api.mts';
import { clock } from './format.mts';
import type { Line } from './lines.mts';
import { isForPage } from './keys.tsx';
import { Problem } from './parts.tsx';
import { endOfPause, instantOf, positionOf } from './playback.mts';

const SPEEDS = [0.75, 1, 1.25, 1.5, 1.75, 2];
const STEP_S = 5;

/** A place to play from, as somebody asked for it: each time a new object. */
export interface Seek {
	/** Unix ms. */
	ms: number;
}

/**
 * Plays the audio of a lifelog. Pauses are left out of audio, so `spans` says which time is where.
 *
 * @param onTime Called with the instant that plays, in Unix ms.
 */
export function Player({
	id,
	spans,
	lines,
	seek,
	onTime,
}: {
	id: string;
	spans: AudioSpan[];
	lines: Line[];
	seek: Seek | undefined;
	onTime: (ms: number) => void;
}) {
	const audio = useRef<HTMLAudioElement>(null);
	const [isPlaying, setPlaying] = useState(false);
	const [positionMs, setPosition] = useState(0);
	const [speed, setSpeed] = useState(1);
	const [skips, setSkips] = useState(false);
	const [problem, setProblem] = useState('');
	const last = spans.at(-1)!;
	const lengthMs = last.positionMs + last.endMs - last.startMs;

	const toggle = () => {
		const element = audio.current!;
		if (!element.paused) element.pause();
		else
			element.play().catch(({ name, message }: Error) => {
				// Something else was asked for meanwhile.
				if (name !== 'AbortError') setProblem(`The audio can't be played: ${message}`);
			});
	};
	const move = (toMs: number) => {
		audio.current!.currentTime = Math.min(lengthMs, Math.max(0, toMs)) / 1000;
	};

	useEffect(() => {
		if (!seek) return;
		move(positionOf(spans, seek.ms));
		if (audio.current!.paused) toggle();
	}, [seek]);

	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (!isForPage(event)) return;
			// A line that was clicked keeps the focus, and a space is to pause then.
			const isOnControl =
				event.target instanceof Element &&
				event.target.closest('button:not(.said), a, summary, input[type=checkbox]');
			const action = {
				' ': isOnControl ? undefined : toggle,
				ArrowLeft: () => move(1000 * (audio.current!.currentTime - STEP_S)),
				ArrowRight: () => move(1000 * (audio.current!.currentTime + STEP_S)),
			}[event.key];
			if (!action) return;
			event.preventDefault();
			action();
		};
		// Firefox clicks a button when the space is let go.
		const onKeyUp = (event: KeyboardEvent) => {
			const isOnLine = event.target instanceof Element && event.target.matches('.said');
			if (event.key === ' ' && isOnLine) event.preventDefault();
		};
		addEventListener('keydown', onKey);
		addEventListener('keyup', onKeyUp);
		return () => {
			removeEventListener('keydown', onKey);
			removeEventListener('keyup', onKeyUp);
		};
	}, [spans]);

	const onTimeUpdate = () => {
		const nowMs = 1000 * audio.current!.currentTime;
		setPosition(nowMs);
		const instant = instantOf(spans, nowMs);
		const next = skips ? endOfPause(lines, instant) : undefined;
		if (next !== undefined && positionOf(spans, next) > nowMs) move(positionOf(spans, next));
		else onTime(instant);
	};

	return (
		<section class="player" aria-label="Player">
			<audio
				ref={audio}
				src={audioAddress(id)}
				preload="metadata"
				onPlay={() => setPlaying(true)}
				onPlaying={() => setProblem('')}
				onPause={() => setPlaying(false)}
				onTimeUpdate={onTimeUpdate}
				onSeeked={onTimeUpdate}
				onError={() => {
					setProblem("The audio can't be loaded. Reload the page to try again.");
					// If the session has ended, the answer to a request says so.
					readAudioSpans(id).catch(() => {});
				}}
			/>
			<button
				type="button"
				class="play"
				aria-label={isPlaying ? 'Pause' : 'Play'}
				aria-keyshortcuts="Space"
				title={`${isPlaying ? 'Pause' : 'Play'} (space)`}
				onClick={toggle}
			>
				{isPlaying ? '❚❚' : '▶'}
			</button>
			<label class="position">
				<span class="hidden">Position</span>
				<input
					type="range"
					aria-keyshortcuts="ArrowLeft ArrowRight"
					min={0}
					max={Math.ceil(lengthMs / 1000)}
					step={1}
					value={Math.round(positionMs / 1000)}
					aria-valuetext={`${clock(positionMs)} of ${clock(lengthMs)}`}
					onInput={(event) => move(1000 * Number(event.currentTarget.value))}
				/>
			</label>
			<span class="clock">
				{clock(positionMs)} / {clock(lengthMs)}
			</span>
			<label>
				<span class="hidden">Speed</span>
				<select
					value={speed}
					aria-keyshortcuts="v"
					onChange={(event) => {
						const chosen = Number(event.currentTarget.value);
						audio.current!.playbackRate = chosen;
						setSpeed(chosen);
					}}
				>
					{SPEEDS.map((each) => (
						<option key={each} value={each}>
							{each} ×
						</option>
					))}
				</select>
			</label>
			<label class="check">
				<input
					type="checkbox"
					aria-keyshortcuts="k"
					checked={skips}
					onChange={(event) => setSkips(event.currentTarget.checked)}
				/>{' '}
				Skip silence
			</label>
			<Problem text={problem} />
		</section>
	);
}
