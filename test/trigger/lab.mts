// A trigger at a service of its own, where a test says what is listed and what time it is.
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import type { Engine, PollOptions } from '../support/engine.mts';
import { engineAt } from '../support/lab.mts';
import { workflowWith } from '../support/workflow.mts';
import type { Reply } from './promises/service.mts';
import { overHttp, type Wire } from './promises/wire.mts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** What n8n's durable engine allows a poll. */
export const DURABLE_MS = 36_000;

export const iso = (instant: number): string => new Date(instant).toISOString();

interface Asked {
	path: string;
	query: URLSearchParams;
}

export class TriggerLab {
	/** What the service has. Those without a time are in every list. */
	lifelogs: IDataObject[] = [];
	chats: IDataObject[] = [];
	/** What time it is, by the service and by n8n. */
	now = Date.parse('2026-03-20T12:00:00.000Z');
	/** How long a request takes. */
	latencyMs = 0;
	pageSize = 100;
	/** The status that a request is answered with instead. */
	fault: (asked: Asked) => number | undefined = () => undefined;
	/** How an entry that is read on its own differs. */
	ofOne = (entry: IDataObject): IDataObject => entry;
	/** Whether a list goes on for ever, with the same page again and again. */
	isEndless: (asked: Asked) => boolean = () => false;

	requests: Asked[] = [];
	readonly warnings: string[] = [];
	/** What n8n keeps of the trigger. */
	staticData: IDataObject = {};
	engine!: Engine;
	#close!: () => Promise<void>;

	/** Starts one, from when on the clocks of this process are its own. */
	static async start(wire?: Wire): Promise<TriggerLab> {
		const lab = new TriggerLab();
		const { serve, close } = wire ?? (await overHttp());
		const onWarning = (message: string) => void lab.warnings.push(message);
		lab.engine = await engineAt({ url: serve(lab) }, { onWarning });
		const [realNow, steady, begin] = [Date.now, performance.now.bind(performance), lab.now];
		Date.now = () => lab.now;
		performance.now = () => lab.now - begin;
		lab.#close = async () => {
			Date.now = realNow;
			performance.now = steady;
			await lab.engine.close();
			close();
		};
		return lab;
	}

	close(): Promise<void> {
		return this.#close();
	}

	/** Answers a request. */
	async answer(url: string): Promise<Reply> {
		const { pathname: path, searchParams: query } = new URL(url, 'http://localhost');
		this.now += this.latencyMs;
		this.requests.push({ path, query });
		const status = this.fault({ path, query }) ?? 200;
		const headers = {
			Date: new Date(this.now).toUTCString(),
			'Content-Type': 'application/json',
		};
		const content = status === 200 ? this.#contentOf(path, query) : { error: 'no' };
		return { status, headers, body: JSON.stringify(content), isCut: false };
	}

	#contentOf(path: string, query: URLSearchParams): object {
		const [, , kind, id] = path.split('/');
		const all = kind === 'chats' ? this.chats : this.lifelogs;
		if (id !== undefined) {
			const one = all.find((entry) => entry.id === id);
			return { data: { [kind.slice(0, -1)]: one ? this.ofOne(one) : null } };
		}
		const date = query.get('date') ?? '';
		const listed = all.filter(({ startTime }) => String(startTime ?? date).startsWith(date));
		const isEndless = this.isEndless({ path, query });
		const from = isEndless ? 0 : Number(query.get('cursor') ?? 0);
		const to = from + Math.min(this.pageSize, Number(query.get('limit')));
		const nextCursor = isEndless || to < listed.length ? String(to) : null;
		const page = listed.slice(from, to);
		return { data: { [kind]: page }, meta: { [kind]: { nextCursor, count: page.length } } };
	}

	/** Uploads a lifelog, which begins now unless said otherwise. */
	add(id: string, more: IDataObject = {}, start = this.now): void {
		this.lifelogs.push({
			...{ id, title: id, startTime: iso(start), endTime: iso(start + MINUTE) },
			...{ updatedAt: iso(this.now), markdown: `# ${id}`, contents: [], isStarred: false },
			...more,
		});
	}

	change(id: string, more: IDataObject = {}): void {
		const lifelog = this.lifelogs.find((one) => one.id === id)!;
		Object.assign(lifelog, { updatedAt: iso(this.now), ...more });
	}

	/** One poll. Returns `<id> <changeType>` of what came. */
	async poll(parameters: IDataObject = {}, options: PollOptions = {}): Promise<string[]> {
		const event = 'lifelogCreatedOrUpdated';
		const [, node] = workflowWith('lifelogTrigger', { event, ...parameters }).nodes;
		// The durable engine hands on a copy, and keeps nothing of a poll that throws.
		const staticData = options.budgetMs ? copyOf(this.staticData) : this.staticData;
		const run = { staticData, timezone: 'Europe/Berlin', ...options };
		const { items } = await this.engine.runPoll({ nodes: [node], connections: {} }, run);
		this.staticData = staticData;
		return (items ?? []).map(({ json }) => `${json.id} ${json.changeType ?? ''}`.trim());
	}

	/** Polls so often, so far apart. Returns all that came, sorted, failures left out. */
	async polls(
		times: number,
		everyMs: number,
		parameters?: IDataObject,
		options?: PollOptions,
	): Promise<string[]> {
		const came: string[] = [];
		for (let nth = 0; nth < times; nth++) {
			this.now += everyMs;
			came.push(...(await this.poll(parameters, options).catch(() => [])));
		}
		return came.sort();
	}

	/** n8n starts again, with what it has saved. */
	restart(): void {
		this.staticData = copyOf(this.staticData);
	}

	/** The state that the trigger saved. */
	state(): IDataObject {
		return (Object.values(this.staticData)[0] as IDataObject).state as IDataObject;
	}
}

const copyOf = (data: IDataObject) => JSON.parse(JSON.stringify(data)) as IDataObject;

/** Whether a poll failed with a status. */
export const failedWith = (polling: Promise<unknown>): Promise<string | null | undefined> =>
	polling.then(
		() => undefined,
		(error: unknown) => (error as NodeApiError).httpCode,
	);
