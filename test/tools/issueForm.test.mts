import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Field {
	type: string;
	id?: string;
	attributes: { label?: string; value?: string; options?: { label: string; required?: boolean }[] };
	validations?: { required?: boolean };
}

const { body } = parse(readFileSync('.github/ISSUE_TEMPLATE/bug.yml', 'utf8')) as { body: Field[] };
const field = (id: string) => body.find((each) => each.id === id)!;

test('the issue form requires the versions of the package and n8n, and the platform', () => {
	for (const id of ['version', 'n8n', 'system']) {
		expect(field(id)).toMatchObject({ type: 'input', validations: { required: true } });
	}
	expect(field('version').attributes.label).toBe('Version of the package');
	expect(field('n8n').attributes.label).toBe('Version of n8n');
});

test('the issue form says first what must not be posted, and requires a confirmation', () => {
	const [first] = body;
	expect(first.type).toBe('markdown');
	expect(first.attributes.value).toMatch(/^\*\*Don't post API keys, transcripts, audio /);
	const [confirmation, ...others] = field('private').attributes.options!;
	expect(others).toEqual([]);
	expect(confirmation.required).toBe(true);
	for (const word of ['API key', 'transcript', 'audio']) {
		expect(confirmation.label).toContain(`no ${word}`);
	}
});
