// New recordings, which get the replacements that there are when they are transcribed.
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { temporaryFolder } from '../sources.mts';
import { WordsClient } from './client.mts';

let lab: RecordingLab;
let client: WordsClient;

beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	client = new WordsClient(lab.server);
	lab.endpoint.instead = () => ({
		segments: [{ text: 'The Quick Carbon, quick carbons.', start: 0, end: 2 }],
	});
});
afterAll(() => lab.close());

const recorded = async () => {
	const [lifelog] = await lab.made(lab.ten());
	return {
		id: lifelog.id,
		title: lifelog.title,
		texts: said(lifelog).map(({ content }) => content),
	};
};

test('a transcript has the right words in the order of the replacements, and keeps them', async () => {
	const first = await recorded();
	expect(first.texts).toEqual(['The Quick Carbon, quick carbons.']);
	await client.replace('quick carbon', 'QuickCarbon');
	await client.replace('quickcarbon', 'Quick$&');
	const { id, title, texts } = await recorded();
	expect(texts).toEqual(['The Quick$&, quick carbons.']);
	expect(title).toBe('The Quick$&, quick carbons.');
	for (const made of await client.replacements()) expect(await client.takeBack(made.id)).toBe(200);
	expect(said(await client.get(id)).map(({ content }) => content)).toEqual(texts);
	expect(said(await client.get(first.id)).map(({ content }) => content)).toEqual(first.texts);
	expect((await recorded()).texts).toEqual(first.texts);
});

test('a transcript that is sent keeps its words', async () => {
	await client.replace('carbon', 'diamond');
	const sent = {
		transcript: [{ text: 'Carbon as sent.', start: 0, end: 1 }],
		startTime: '2026-03-01T09:00:00Z',
	};
	const { body } = await client.send('/v1/lifelogs', 'POST', sent);
	expect(said(body.data.lifelog).map(({ content }) => content)).toEqual(['Carbon as sent.']);
});
