import { max } from 'simple-statistics';
import { count, spreadOf } from './figures.mts';
import type { Point } from './lists.mts';
import { WAYS } from './ways.mts';

const WIDTH = 300;
const HEIGHT = 240;
/** Of a panel: room for the axis at its left, and for what is above and below it. */
const LEFT = 60;
const TOP = 40;
const BOTTOM = 80;
const PANEL_WIDTH = LEFT + WIDTH + 20;
const COLORS = ['#4c78a8', '#72b7b2', '#f58518', '#e45756'];
const MAX_LIFELOGS = 10_000;
const LIFELOGS = [1000, 2500, 5500, MAX_LIFELOGS];
const MAX_TICKS = 6;

/** Draws time against number of lifelogs, one panel for each latency. Returns SVG. */
export function drawChart(points: Point[]): string {
	const latencies = [...new Set(points.map(({ latencyMs }) => latencyMs))].sort((a, b) => a - b);
	const panels = latencies.map((latencyMs, nth) => {
		const panel = drawPanel(
			latencyMs > 0 ? `TLS and ${latencyMs} ms` : 'near by',
			points.filter((point) => point.latencyMs === latencyMs),
		);
		return `<g transform="translate(${nth * PANEL_WIDTH + LEFT},${TOP})">\n${panel}\n</g>`;
	});
	const legend = WAYS.map((way, nth) => {
		const x = LEFT + nth * 160;
		const y = TOP + HEIGHT + BOTTOM - 20;
		return `<circle cx="${x}" cy="${y - 4}" r="5" fill="${COLORS[nth]}"/>${text(x + 10, y, way, 'start')}`;
	});
	const size = [latencies.length * PANEL_WIDTH, TOP + HEIGHT + BOTTOM];
	const font = 'font-family="sans-serif" font-size="11"';
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}" ${font}>`,
		'<rect width="100%" height="100%" fill="white"/>',
		...panels,
		...legend,
		'</svg>\n',
	].join('\n');
}

function drawPanel(title: string, points: Point[]): string {
	const values = points.map((point) => ({
		...point,
		...spreadOf(point.ms.map((ms) => ms / 1000)),
	}));
	const { step, highest } = scaleOf(max(values.map(({ high }) => high)));
	const xOf = (lifelogs: number) => round((lifelogs / MAX_LIFELOGS) * WIDTH);
	const yOf = (seconds: number) => round(HEIGHT - (seconds / highest) * HEIGHT);
	const ticks = Array.from({ length: Math.round(highest / step) + 1 }, (_, nth) => nth * step);
	const lines = WAYS.map((way, nth) => {
		const own = values.filter((value) => value.way === way);
		const path = own.map(({ lifelogs, median }) => `${xOf(lifelogs)},${yOf(median)}`).join(' ');
		return [
			`<g stroke="${COLORS[nth]}" fill="${COLORS[nth]}">`,
			`<polyline points="${path}" fill="none" stroke-width="2"/>`,
			...own.flatMap(({ lifelogs, median, low, high }) => [
				`<circle cx="${xOf(lifelogs)}" cy="${yOf(median)}" r="3"/>`,
				`<path d="M${xOf(lifelogs)},${yOf(low)}V${yOf(high)}" opacity="0.5"/>`,
			]),
			'</g>',
		].join('\n');
	});
	return [
		text(WIDTH / 2, -15, title, 'middle', 'font-size="13"'),
		...ticks.flatMap((seconds) => [
			`<path d="M0,${yOf(seconds)}H${WIDTH}" stroke="#ddd"/>`,
			text(-6, yOf(seconds) + 4, String(round(seconds)), 'end'),
		]),
		...LIFELOGS.flatMap((lifelogs) => [
			`<path d="M${xOf(lifelogs)},0V${HEIGHT}" stroke="#ddd"/>`,
			text(xOf(lifelogs), HEIGHT + 16, count(lifelogs), 'middle'),
		]),
		`<rect width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#888"/>`,
		text(WIDTH / 2, HEIGHT + 34, 'Lifelogs of 4 KB', 'middle', 'font-weight="bold"'),
		`<g transform="translate(-40,${HEIGHT / 2}) rotate(-90)">${text(0, 0, 'Seconds', 'middle', 'font-weight="bold"')}</g>`,
		...lines,
	].join('\n');
}

/** The smallest round step that needs few ticks, and the last tick. */
function scaleOf(highest: number): { step: number; highest: number } {
	const power = 10 ** Math.floor(Math.log10(highest / MAX_TICKS));
	const step = [1, 2, 5, 10]
		.map((factor) => factor * power)
		.find((each) => Math.ceil(highest / each) < MAX_TICKS)!;
	return { step, highest: Math.ceil(highest / step) * step };
}

const round = (value: number) => Number(value.toFixed(2));

const text = (x: number, y: number, content: string, anchor: string, more = '') =>
	`<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${content}</text>`;
