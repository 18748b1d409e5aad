import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Lifelog } from '../../../lifelog/api.ts';
import { audioAddress, readAudioSpans, type AudioSpan } from './api.mts';
import { clock } from './format.mts';
import type { Line } from './lines.mts';
import { isForPage } from './keys.tsx';
import { Icon } from './icons.tsx';
import { Problem } from './parts.tsx';
import { endOfPause, instantOf, positionOf } from './playback.mts';

const SPEEDS = [0.75, 1, 1.25, 1.5, 1.75, 2];
const STEP_S = 5;
const LONG_STEP_S = 10;

/** The last chosen speed. */
function speedBefore(): number {
	const speed = Number(localStorage.getItem('speed'));
	return SPEEDS.includes(speed) ? speed : 1;
}

/** Whether the browser can play the archive's format. Older Safari can't. */
const canPlay = () => new Audio().canPlayType('audio/ogg; codecs=opus') !== '';

/** A requested playback position. Each request is a new object. */
export interface Seek {
	/** Unix ms. */
	ms: number;
	/** Where to pause, Unix ms; undefined to continue. */
	untilMs?: number;
	isPlayed: boolean;
}

/**
 * Plays the audio of a lifelog. The audio has no pauses, so `spans` maps times to positions.
 *
 * @param onTime Called with the current instant, in Unix ms.
 */
export function Player({
	lifelog: { id, title },
	spans,
	lines,
	seek,
	onTime,
}: {
	lifelog: Pick<Lifelog, 'id' | 'title'>;
	spans: AudioSpan[];
	lines: Line[];
	seek: Seek | undefined;
	onTime: (ms: number) => void;
}) {
	const audio = useRef<HTMLAudioElement>(null);
	const [isPlaying, setPlaying] = useState(false);
	const [positionMs, setPosition] = useState(0);
	const [speed, setSpeed] = useState(speedBefore);
	const [skips, setSkips] = useState(false);
	const [problem, setProblem] = useState('');
	const untilMs = useRef<number | undefined>(undefined);
	const last = spans.at(-1)!;
	const lengthMs = last.positionMs + last.endMs - last.startMs;

	const toggle = () => {
		const element = audio.current!;
		if (!element.paused) element.pause();
		else
			element.play().catch((error: unknown) => {
				const { name, message } = error as Error;
				// Another position was requested meanwhile.
				if (name !== 'AbortError') setProblem(`The audio can't be played: ${message}`);
			});
	};
	const move = (toMs: number) => {
		untilMs.current = undefined;
		audio.current!.currentTime = Math.min(lengthMs, Math.max(0, toMs)) / 1000;
	};
	const moveBy = (seconds: number) => move(1000 * (audio.current!.currentTime + seconds));

	const playAt = (chosen: number) => {
		setSpeed(chosen);
		// A new source starts at the default speed.
		audio.current!.defaultPlaybackRate = chosen;
		audio.current!.playbackRate = chosen;
		localStorage.setItem('speed', String(chosen));
	};
	useEffect(() => playAt(speed), []);

	useEffect(() => {
		if (!seek) return;
		move(positionOf(spans, seek.ms));
		untilMs.current = seek.untilMs;
		if (seek.isPlayed && audio.current!.paused) toggle();
	}, [seek]);
	useMediaKeys(title, moveBy, spans);
	usePlayerKeys(toggle, moveBy, spans);

	const onTimeUpdate = () => {
		// It still fires `pause` when the view is left.
		if (!audio.current) return;
		const nowMs = 1000 * audio.current.currentTime;
		setPosition(nowMs);
		const instant = instantOf(spans, nowMs);
		if (untilMs.current !== undefined && instant >= untilMs.current) {
			untilMs.current = undefined;
			audio.current.pause();
		}
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
					setProblem(
						canPlay()
							? "The audio can't be loaded. Reload the page to try again."
							: "This browser can't play Ogg Opus. Use a newer browser, or download the audio.",
					);
					// If the session has ended, this request's answer reveals it.
					readAudioSpans(id).catch(() => {});
				}}
			/>
			<StepButton seconds={-LONG_STEP_S} letter="b" onStep={moveBy} />
			<button
				type="button"
				class="play"
				aria-label={isPlaying ? 'Pause' : 'Play'}
				aria-keyshortcuts="Space"
				title={`${isPlaying ? 'Pause' : 'Play'} (space)`}
				onClick={toggle}
			>
				<Icon name={isPlaying ? 'pause' : 'play'} />
			</button>
			<StepButton seconds={LONG_STEP_S} letter="f" onStep={moveBy} />
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
			<Speed speed={speed} onChoose={playAt} />
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

/** Media keys of headphones, and the lock screen of a phone. Missing in some browsers over plain HTTP. */
function useMediaKeys(title: string, moveBy: (seconds: number) => void, spans: AudioSpan[]): void {
	useEffect(() => {
		const { mediaSession } = navigator;
		if (!mediaSession) return;
		mediaSession.metadata = new MediaMetadata({ title: title || 'Untitled', artist: 'Lifelogs' });
		mediaSession.setActionHandler('seekbackward', () => moveBy(-LONG_STEP_S));
		mediaSession.setActionHandler('seekforward', () => moveBy(LONG_STEP_S));
		return () => {
			mediaSession.metadata = null;
			mediaSession.setActionHandler('seekbackward', null);
			mediaSession.setActionHandler('seekforward', null);
		};
	}, [title, spans]);
}

/** Shortcuts: space plays and pauses, arrows seek. */
function usePlayerKeys(
	toggle: () => void,
	moveBy: (seconds: number) => void,
	spans: AudioSpan[],
): void {
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (!isForPage(event)) return;
			// A clicked line time keeps the focus, but space should still pause.
			const isOnControl =
				event.target instanceof Element &&
				event.target.closest('button:not(.time), a, summary, input[type=checkbox]');
			const action = {
				' ': isOnControl ? undefined : toggle,
				ArrowLeft: () => moveBy(-STEP_S),
				ArrowRight: () => moveBy(STEP_S),
			}[event.key];
			if (!action) return;
			event.preventDefault();
			action();
		};
		// Firefox clicks a button on keyup.
		const onKeyUp = (event: KeyboardEvent) => {
			const isOnLine = event.target instanceof Element && event.target.matches('.time');
			if (event.key === ' ' && isOnLine) event.preventDefault();
		};
		addEventListener('keydown', onKey);
		addEventListener('keyup', onKeyUp);
		return () => {
			removeEventListener('keydown', onKey);
			removeEventListener('keyup', onKeyUp);
		};
	}, [spans]);
}

function StepButton({
	seconds,
	letter,
	onStep,
}: {
	seconds: number;
	letter: string;
	onStep: (seconds: number) => void;
}) {
	const name = `${seconds < 0 ? 'Back' : 'Forward'} ${Math.abs(seconds)} seconds`;
	return (
		<button
			type="button"
			class="step"
			aria-label={name}
			aria-keyshortcuts={letter}
			title={`${name} (${letter})`}
			onClick={() => onStep(seconds)}
		>
			{seconds < 0 ? '−' : '+'}
			{Math.abs(seconds)}
		</button>
	);
}

function Speed({ speed, onChoose }: { speed: number; onChoose: (speed: number) => void }) {
	return (
		<label>
			<span class="hidden">Speed</span>
			<select
				value={speed}
				aria-keyshortcuts="v"
				onChange={(event) => onChoose(Number(event.currentTarget.value))}
			>
				{SPEEDS.map((each) => (
					<option key={each} value={each}>
						{each} ×
					</option>
				))}
			</select>
		</label>
	);
}
