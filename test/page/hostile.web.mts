// Markup in what lifelog-server's page shows, in Chromium.
import { temporaryFolder } from '../server/sources.mts';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { serverKey } from '../support/lifelogServer.mts';
import { usePages } from '../support/openPage.mts';
import { CHANGING } from './days.mts';
import { HOSTILE } from './hostile.mts';

const { open, serve } = usePages();

/** Names that addresses, objects or lines could stumble over. */
const NAMES = ['__proto__', 'a/%2F../b&name=c#?+d', '\u202eeman', 'שירה', 'x'.repeat(200)];

test('markup in lifelogs and chats is shown as text', async () => {
	const folder = temporaryFolder();
	const startTime = '2026-03-01T12:00:00Z';
	const node = (type: string, content: string) => ({
		...{ type, content, speakerName: content, startOffsetMs: 0 },
	});
	const all = HOSTILE.join(' ');
	await writeArchive(folder, {
		lifelogs: [...HOSTILE, 'Names'].map((markup, nth) =>
			lifelogOf(`h${nth}`, new Date(Date.parse(startTime) + nth * 300_000).toISOString(), {
				title: markup,
				contents:
					nth === 0
						? HOSTILE.flatMap((each) => [
								node('heading2', each),
								node('blockquote', `word ${each}`),
							])
						: nth === HOSTILE.length
							? NAMES.map((name) => node('blockquote', name))
							: [node('heading2', markup), node('blockquote', `word ${markup}`)],
			}),
		),
		chats: HOSTILE.map((markup, nth) => {
			const chat = chatOf(`c${nth}`, startTime);
			const texts = nth === 0 ? [...HOSTILE, all] : [markup];
			return {
				...chat,
				summary: markup,
				messages: texts.map((text, at) => ({
					...chat.messages[at % 2],
					...{ id: `m${at}`, text, user: { role: 'user' as const, name: markup } },
				})),
			};
		}),
	});
	const own = await serve(folder, [
		...CHANGING,
		...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
	]);
	const plain = HOSTILE.filter((each) => /^[^/"\n]{1,100}$/.test(each));
	for (const name of [...plain.slice(0, 5), 'memo\u202egpj']) {
		const body = new FormData();
		body.set('file', new File([`no sound ${name}`], `${name}.mp3`));
		const headers = { 'x-api-key': serverKey };
		const answer = await fetch(`${own.url}/v1/recordings`, { method: 'POST', headers, body });
		expect([name, answer.status]).toEqual([name, 202]);
	}
	const { page } = await open(own);
	const visit = async (path: string, ready: string) => {
		await page.goto(path);
		await page.waitForSelector(ready);
		if (path.startsWith('/days')) await page.waitForSelector('.summary li a');
		if (path === '/lifelogs/h0') {
			await page.keyboard.press('i');
			await page.waitForSelector('.line-form datalist option', { state: 'attached' });
			await page.getByRole('button', { name: 'Speakers' }).click();
			await page.waitForSelector('.beside datalist option', { state: 'attached' });
		}
		if (path === '/recordings') {
			await page.getByRole('button', { name: /^Discard memo.?gpj/ }).click();
			await page.waitForSelector('dialog[open]');
		}
		// Hovering and focusing run handlers, if there are any.
		await page.mouse.move(640, 300);
		await page.keyboard.press('Tab');
		const found = await page.evaluate(() => ({
			ran: (globalThis as { hacked?: unknown }).hacked,
			elements: Array.from(
				document.querySelectorAll(
					'main :is(script, style, img, iframe, object, embed, video, base, meta, link, form:not(.search, .line-form, dialog > form), math, template, svg:not(.bar svg, .edit-line svg))',
				),
			).map(({ outerHTML }) => outerHTML),
			handlers: Array.from(document.querySelectorAll('*'))
				.flatMap((element) => Array.from(element.attributes).map(({ name }) => name))
				.filter((name) => /^on|^srcdoc$/.test(name)),
			links: Array.from(document.querySelectorAll('main a'))
				.map((link) => link.getAttribute('href')!)
				.filter((href) => !/^\/(days|lifelogs|chats)\/[\w-]+(\?at=\d+)?$/.test(href))
				.filter((href) => href !== '/words' && !/^\/person\?name=[\w%+*.-]+$/.test(href))
				.filter((href) => !/^\/v1\/recordings\/[\w-]+\/audio$/.test(href))
				.filter((href) => !/^\/web\/days\/[\d-]+\/zip(\?audio=true)?$/.test(href)),
			// Bidirectional characters turn nothing around beyond their own text.
			unkept: Array.from(document.querySelectorAll('main *'))
				.filter((element) =>
					Array.from(element.childNodes).some(
						({ nodeType, nodeValue }) => nodeType === 3 && /[\u202a-\u202e]/.test(nodeValue!),
					),
				)
				.filter((element) => !element.closest('bdi, option[dir=auto], .markdown, .result p'))
				.map(({ outerHTML }) => outerHTML),
		}));
		expect([path, found]).toEqual([
			path,
			{ ran: undefined, elements: [], handlers: [], links: [], unkept: [] },
		]);
		expect(new URL(page.url()).origin).toBe(own.url);
	};
	await visit('/', '.month .day[data-day]');
	await visit('/days/2026-03-01', '.entry');
	expect(await page.locator('.entry h2 bdi').first().textContent()).toBe(HOSTILE[0]);
	await visit('/lifelogs/h0', '.transcript .said');
	for (let nth = 1; nth < HOSTILE.length; nth += 9) {
		await visit(`/lifelogs/h${nth}`, '.transcript .said');
		await visit(`/chats/c${nth}`, '.message');
	}
	await visit('/search?q=word', '.result');
	await visit('/people?sort=name', '.people li');
	for (const name of [...HOSTILE.slice(0, 3), ...NAMES]) {
		await visit(`/person?${new URLSearchParams({ name })}`, '.rows li');
		expect(await page.locator('h1 bdi').textContent()).toBe(name);
		await page.getByRole('button', { name: 'Rename' }).click();
		const other = `${name.slice(0, 199)}~`;
		await page.fill('dialog input', other);
		await page.keyboard.press('Enter');
		await page.getByText('Also called').first().waitFor();
		// The server leaves out what turns the direction of text.
		expect(await page.locator('h1 bdi').textContent()).toBe(other.replace('\u202e', ''));
	}
	const heard = `word ${HOSTILE[0]}`;
	const answer = await fetch(`${own.url}/v1/replacements`, {
		method: 'POST',
		headers: { 'x-api-key': serverKey, 'content-type': 'application/json' },
		body: JSON.stringify({ heard, right: `\u202e${heard} $&` }),
	});
	expect(answer.status).toBe(201);
	await visit('/words', '.people li');
	expect(await page.locator('h2 bdi').first().textContent()).toBe(heard);
	await visit('/chats', '.rows');
	await visit('/chats/c0', '.message');
	await visit('/recordings', '.recording.failed >> text=memo');
});
