import {
	leastRequests,
	month,
	monthOf,
	mostRequests,
	requestCases,
} from '../../bench/request-cases.mts';
import { type Lab, startLab } from '../support/lab.mts';
import { workflowWith } from '../support/workflow.mts';

// What `npm run bench` says of requests, which no slow machine can change.

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];

beforeAll(async () => {
	lab = await startLab(1);
	({ sandbox, engine } = lab);
});

afterAll(async () => await lab.close());

describe.each(requestCases)(
	'$lifelogs lifelogs, contents: $includeContents',
	({ lifelogs, includeContents }) => {
		const least = leastRequests(lifelogs, includeContents);

		beforeAll(async () => {
			await sandbox.control.reset({ ...monthOf, lifelogs });
			await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
		});

		async function requestsFor(parameters: object): Promise<number> {
			await sandbox.control.clearRequests();
			const options = { includeContents, timezone: 'UTC' };
			const workflow = workflowWith('lifelog', { operation: 'getAll', options, ...parameters });
			const { items } = await engine.runWorkflow(workflow);
			expect(new Set(items('Node').map(({ json }) => json.id)).size).toBe(lifelogs);
			return (await sandbox.control.requests()).length;
		}

		test('a limit: the least that the rules allow', async () => {
			expect(await requestsFor({ limit: lifelogs })).toBe(least);
		});

		test.each([
			['without a range', {}],
			['with a range', month],
			['with a start long before', { start: '2020-01-01 00:00:00' }],
		])(
			'all, %s: as many up to two pages, then at most two more a stretch',
			async (_name, filters) => {
				const requests = await requestsFor({ returnAll: true, filters });
				expect(requests).toBeGreaterThanOrEqual(least);
				expect(requests).toBeLessThanOrEqual(mostRequests(least));
			},
		);
	},
);
