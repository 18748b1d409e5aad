import { type INodeType, NodeHelpers } from 'n8n-workflow';
import { loadPackage } from '../../support/engine.mts';
import { type LabAt, startLabAt } from '../../support/lab.mts';
import { workflowWith } from '../../support/workflow.mts';
import { actions } from './properties.mts';
import { nodeOperations, withId } from './parameters.mts';
import { type Service, startService } from './service.mts';

// That a delete takes effect once, and that nothing else sends one, every cell of the matrix and
// every run of the properties checks.

const deletes = nodeOperations().filter(({ operation }) => operation === 'delete');
const apiKey = 'deletes';

let lab: LabAt<Service>;
let service: Service;
let engine: typeof lab.engine;

beforeAll(async () => {
	lab = await startLabAt({ ...(await startService()), apiKey });
	({ service, engine } = lab);
});

afterAll(async () => await lab.close());

test('only lifelogs and chats can be deleted', () => {
	expect(deletes.map(({ node }) => node).sort()).toEqual(['lifelog', 'lifelogChat']);
	const named = actions().filter(({ operation }) => /delete|remove|clear/i.test(operation));
	expect(named).toEqual(deletes);
});

describe.each(deletes.map((operation) => [operation.node, operation] as const))(
	'%s',
	(node, operation) => {
		const type = loadPackage().nodeTypes[`n8n-nodes-lifelog.${node}`] as INodeType;

		test('shows in the panel that a delete is permanent', () => {
			const [notice] = type.description.properties.filter(
				({ type: kind, displayOptions }) =>
					kind === 'notice' && displayOptions?.show?.operation?.includes('delete'),
			);
			expect(notice.displayName).toMatch(/permanent.*can't be recovered/);
		});

		test('says to an agent that a delete is permanent', () => {
			const { default: resource } = type.description.properties.find(
				({ name }) => name === 'resource',
			)!;
			const [, one] = workflowWith(node, { operation: 'delete', resource }).nodes;
			const told = NodeHelpers.getToolDescriptionForNode(
				one,
				NodeHelpers.getVersionedNodeType(type),
			);
			expect(told).toMatch(/^Delete (lifelog|chat) permanently/);
		});

		test.each([
			'',
			'  ',
			'.',
			'..',
			'={{ undefined }}',
			'={{ null }}',
			'={{ "" }}',
			'={{ [] }}',
			'={{ [1] }}',
			'={{ ({}) }}',
			'={{ false }}',
			'={{ NaN }}',
			// Numbers whose digits are lost before a node gets them.
			'={{ 12345678901234567890 }}',
			'={{ JSON.parse("9007199254740993") }}',
			'={{ 1.10 }}',
		])('refuses %p for an ID before any request', async (id) => {
			const world = service.open(apiKey);
			const { error } = await engine.runWorkflow(workflowWith(node, withId(operation, id)));
			expect(error).toBeDefined();
			expect(world.seen).toEqual([]);
		});
	},
);
