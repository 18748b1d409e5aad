// Words to expect that a server has, or that come with an upload. prompt.test.mts has what an endpoint
// is asked, and what is left out.
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { temporaryFolder } from '../sources.mts';

const PROMPT = 'Anna Meier, Quickcarbon. Yes: Zürich';

let lab: RecordingLab;
const withPrompt = () => lab.argsOf('--transcription-prompt', ` ${PROMPT}\n`);
const told = () => lab.endpoint.asked.map(({ fields }) => fields.prompt);
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	await lab.restart(withPrompt());
});
beforeEach(() => {
	lab.mend();
	lab.endpoint.asked = [];
});
afterAll(() => lab.close());

test('an endpoint gets the words of the server, or those of the upload, and what repeats them is left out', async () => {
	lab.endpoint.instead = ({ fields }) => ({
		segments: [
			{ text: 'Hello, Anna Meier.', start: 1, end: 2 },
			{ text: `${fields.prompt}.`, start: 4, end: 9 },
		],
	});
	const texts = [];
	const uploads: Record<string, string>[] = [{}, { prompt: ' Tom Huber, Łódź ' }, { prompt: '' }];
	for (const fields of uploads) {
		const [lifelog] = await lab.made(lab.ten(), fields);
		texts.push(...said(lifelog).map(({ content }) => content));
	}
	expect(told()).toEqual([PROMPT, 'Tom Huber, Łódź', PROMPT]);
	expect(texts).toEqual(Array(3).fill('Hello, Anna Meier.'));
});

test('if only they were heard, only the audio is kept', async () => {
	lab.endpoint.instead = () => ({ text: PROMPT });
	expect(await lab.made(lab.ten())).toEqual([]);
});

test('words of an upload are kept over a restart, and no log has them', async () => {
	const own = 'Geheimrat Holofernes, Quickcarbon';
	lab.endpoint.refuses = ['verbose_json', 'json'];
	const { recording } = await lab.upload(lab.ten(), { prompt: own });
	expect(await lab.ended(recording.id)).toMatchObject({ status: 'failed' });
	const log = [...lab.server.log];
	await lab.restart([...withPrompt(), '--log-level', 'debug']);
	lab.mend();
	lab.endpoint.asked = [];
	expect(await lab.retry(recording.id)).toMatchObject({ status: 200 });
	expect(await lab.ended(recording.id)).toMatchObject({ status: 'done' });
	expect(told()).toEqual([own]);
	log.push(...lab.server.log);
	expect(log.join('\n')).toContain(recording.id);
	expect(log.join('\n')).not.toMatch(/Holofernes|Quickcarbon/i);
});

test('more than 400 characters are refused, and none is quoted', async () => {
	const before = await lab.everything();
	for (const prompt of ['Anna '.repeat(81), 'Ä'.repeat(401), 'x'.repeat(2000)]) {
		const answer = await lab.upload(lab.ten(), { prompt });
		expect([answer.status, answer.error]).toEqual([
			...[400, 'prompt is longer than 400 characters. Shorten it'],
		]);
	}
	expect(await lab.everything()).toEqual(before);
	const longest = '😀'.repeat(400);
	await lab.made(lab.ten(), { prompt: longest });
	expect(told()).toEqual([longest]);

	const long = 'Anna '.repeat(80).concat('Meier');
	for (const [args, env] of [
		[['--transcription-prompt', long], {}],
		[[], { LIFELOG_TRANSCRIPTION_PROMPT: long }],
	] as const) {
		const server = spawnLifelogServer(temporaryFolder(), [...lab.argsOf(), ...args], env);
		const name = args[0] ?? 'LIFELOG_TRANSCRIPTION_PROMPT';
		await expect(server.ready).rejects.toThrow(`${name} must have at most 400 characters`);
		await expect(server.ready).rejects.not.toThrow('Anna');
	}
});

test('the option needs an endpoint', async () => {
	const server = spawnLifelogServer(temporaryFolder(), ['--transcription-prompt', PROMPT]);
	await expect(server.ready).rejects.toThrow(/--transcription-prompt needs --transcription-url/);
});
