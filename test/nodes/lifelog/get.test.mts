import type { Lifelog } from '../../../lifelog/api.ts';
import { useNode } from '../../support/useNode.mts';
import { byId } from '../../support/workflow.mts';

const { sandbox, run } = useNode('lifelog', { days: 3, usual: { operation: 'get' } });

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

test('returns the API’s object unchanged and complete', async () => {
	const { id } = await anyLifelog();
	const { json } = await run({ lifelogId: byId(id), output: 'raw' });
	const response = await fetch(
		`${sandbox.url}/v1/lifelogs/${id}?includeContents=true&timezone=UTC`,
		{ headers: { 'x-api-key': sandbox.apiKey } },
	);
	const { data } = (await response.json()) as { data: { lifelog: Lifelog } };
	expect(json).toEqual([data.lifelog]);
	expect(data.lifelog.contents.length).toBeGreaterThan(0);
});

test("leaves out the parts that aren't requested, and returns times in the time zone", async () => {
	const { id } = await anyLifelog();
	const options = {
		includeMarkdown: false,
		includeHeadings: false,
		includeContents: false,
		timezone: 'Asia/Tokyo',
	};
	const { json } = await run({ lifelogId: byId(id), output: 'raw', options });
	expect(json[0]).not.toHaveProperty('markdown');
	expect(json[0]).not.toHaveProperty('contents');
	expect(json[0].startTime).toContain('+09:00');
});

test.each(['404', 'null'] as const)(
	"names the ID that wasn't found, answered by %s",
	async (missing) => {
		await sandbox.control.dialect({ missing });
		const { error, description } = await run({ lifelogId: byId('nobody') });
		expect(error?.message).toBe('No lifelog with the ID "nobody" was found');
		expect(description).toContain('Check the ID');
	},
);
