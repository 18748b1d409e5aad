// Loaded into a process under test (NODE_OPTIONS): what it waits a minute or two for, it waits for a
// hundredth of that.
const wait = globalThis.setTimeout;

globalThis.setTimeout = ((work: () => void, ms = 0, ...rest: []) =>
	wait(work, ms >= 50_000 && ms <= 120_000 ? ms / 100 : ms, ...rest)) as typeof setTimeout;
