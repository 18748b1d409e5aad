import { size } from '../support/size.mts';
import { DAY, MINUTE, TriggerLab } from './lab.mts';
import { inProcess } from './promises/wire.mts';

const UPLOADS = size(500, 10_000);

let lab: TriggerLab;
beforeEach(async () => (lab = await TriggerLab.start(inProcess())));
afterEach(() => lab.close());

test(`${UPLOADS} uploads at once are reported once, 50 a poll, in few requests`, async () => {
	await lab.poll();
	lab.now += MINUTE;
	for (let nth = 0; nth < UPLOADS; nth++) lab.add(`m${nth}`, {}, lab.now - (nth % 7) * DAY - nth);
	const came = new Set<string>();
	let stateSize = 0;
	for (let nth = 0; nth < UPLOADS / 50; nth++) {
		lab.now += 5 * MINUTE;
		lab.requests = [];
		const output = await lab.poll();
		expect(output).toHaveLength(50);
		for (const one of output) came.add(one);
		expect(lab.requests.length).toBeLessThanOrEqual(250);
		stateSize = Math.max(stateSize, JSON.stringify(lab.state()).length);
	}
	expect(came.size).toBe(UPLOADS);
	expect(stateSize).toBeLessThan(100 * UPLOADS);
	expect(await lab.polls(3, MINUTE)).toEqual([]);
});
