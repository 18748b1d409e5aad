// Loaded into a process under test (node --import): pauses of seconds, as between retries, are short.
const wait = globalThis.setTimeout;

globalThis.setTimeout = ((work: () => void, ms = 0, ...rest: []) =>
	wait(work, ms >= 1000 && ms < 20_000 ? ms / 100 : ms, ...rest)) as typeof setTimeout;
