// n8n's editor, operated in a browser as a person does: by what is shown and what can be clicked.
import type { Browser, Locator, Page } from 'playwright-core';
import type { Taken } from '../../support/pictures.mts';
import type { Lab } from './lab.mts';
import { OWNER, TIMEOUT_MS } from './rest.mts';

const SETTLING_MS = 60_000;
/** How long what is shown has to stay the same to be taken for the end of a change. */
const STABLE_MS = 1_000;
/** By then a page that was asked for shows, or another navigation has overtaken it. */
const OVERTAKEN_MS = 30_000;
const HIDE_MESSAGES = '.el-notification { display: none !important; }';
const NO_ANIMATIONS =
	'*, ::before, ::after { animation: none !important; transition: none !important; }';

/** The looks of n8n's editor; without a choice of the user it has that of the system. */
export type Theme = 'light' | 'dark';

const byTestId = (id: string) => `[data-test-id="${id}"]`;

/** What can be read in a part of the editor: its lines, without the star of what is required, and its fields. */
async function readIn(part: Locator): Promise<string[]> {
	const lines = await part.evaluate((element) => {
		const fields = Array.from(element.querySelectorAll<HTMLInputElement>('input, textarea'))
			.filter((field) => field.checkVisibility())
			.map(({ value, placeholder }) => value || placeholder);
		return [...(element as HTMLElement).innerText.split('\n'), ...fields];
	});
	return lines.map((line) => line.replace(/\s*\*\s*$/, ''));
}

/** The editor of a lab's n8n, signed in. */
export class Editor {
	private readonly page: Page;

	private constructor(page: Page) {
		this.page = page;
	}

	/** Opens the sign-in page in a new window, of a system with the light theme, and signs in as the owner. */
	static async signIn(browser: Browser, { n8n }: Lab): Promise<Editor> {
		const viewport = { width: 1440, height: 760 };
		const look = { deviceScaleFactor: 1.5, colorScheme: 'light' as const };
		const page = await browser.newPage({ viewport, ...look });
		page.setDefaultTimeout(TIMEOUT_MS);
		// Without a graphics card, animations cost a fifth of the browser's CPU.
		await page.addInitScript((style) => {
			document.addEventListener('DOMContentLoaded', () => {
				document.head.append(
					Object.assign(document.createElement('style'), { textContent: style }),
				);
			});
		}, NO_ANIMATIONS);
		await page.goto(`${n8n.url}/signin`);
		await page.fill('input[name="emailOrLdapLoginId"]', OWNER.email);
		await page.fill('input[type="password"]', OWNER.password);
		await page.click(byTestId('form-submit-button'));
		await page.waitForURL(({ pathname }) => !pathname.startsWith('/signin'));
		// The editor is still on its way to the first page, and follows nothing before it is there.
		await page.waitForLoadState('networkidle');
		return new Editor(page);
	}

	/** Changes the theme of the system, which the editor follows. */
	async setTheme(colorScheme: Theme): Promise<void> {
		await this.page.emulateMedia({ colorScheme });
	}

	/** Shows a workflow and opens the panel of one of its nodes. */
	async openNode(workflowId: string, name: string): Promise<NodePanel> {
		return await this.open(`/workflow/${workflowId}`, name);
	}

	/** Imports a workflow's file into a new workflow, as the menu does, and shows it. */
	async importFile(path: string): Promise<Canvas> {
		// Only an empty canvas is ready: what is imported before it shows, or before the credentials are
		// loaded, is lost or has none of them.
		const canvas = await this.newWorkflow();
		await this.page.locator(byTestId('workflow-import-input')).setInputFiles(path);
		await canvas.whenShown();
		return canvas;
	}

	/** Shows an empty workflow. */
	async newWorkflow(): Promise<Canvas> {
		const empty = this.page.locator(byTestId('canvas-add-button'));
		const isThere = () =>
			empty.waitFor({ timeout: OVERTAKEN_MS }).then(
				() => true,
				() => false,
			);
		// A navigation of the editor's own may come behind this one.
		do await this.goTo('/workflow/new');
		while (!(await isThere()));
		return new Canvas(this.page);
	}

	/** Shows a workflow. */
	async openWorkflow(workflowId: string): Promise<Canvas> {
		await this.goTo(`/workflow/${workflowId}`);
		const canvas = new Canvas(this.page);
		await canvas.whenShown();
		return canvas;
	}

	/** Shows an execution of the past and opens the panel of one of its nodes. */
	async openExecutedNode(
		workflowId: string,
		executionId: string,
		name: string,
	): Promise<NodePanel> {
		return await this.open(`/workflow/${workflowId}/executions/${executionId}`, name);
	}

	/**
	 * Says something in the chat of a workflow, and waits until the chat shows an answer with these
	 * words.
	 */
	async chat(workflowId: string, message: string, answer: string): Promise<void> {
		await this.goTo(`/workflow/${workflowId}`);
		const button = this.page.locator(byTestId('workflow-chat-button'));
		const input = this.page.locator(byTestId('chat-input'));
		await button.waitFor();
		// The editor remembers that the chat was open, and opens it in its own time.
		const isOpen = async () =>
			await input.waitFor({ timeout: 10_000 }).then(
				() => true,
				() => false,
			);
		while (!(await isOpen())) await button.click();
		await input.fill(message);
		await input.press('Enter');
		await this.page.locator('.chat-message', { hasText: answer }).first().waitFor();
	}

	/** Has the page load an image, whatever comes of it. */
	async loadImage(url: string): Promise<void> {
		await this.page.evaluate(
			(src) =>
				new Promise((resolve) => {
					const image = new Image();
					image.onload = image.onerror = resolve;
					image.src = src;
				}),
			url,
		);
	}

	/** Shows a workflow and opens the list of what can be added to it. */
	async openNodesPanel(workflowId: string): Promise<NodesPanel> {
		await this.goTo(`/workflow/${workflowId}`);
		await this.page.locator(byTestId('canvas-node')).first().waitFor();
		await this.page.locator(byTestId('node-creator-plus-button')).first().click();
		const panel = new NodesPanel(this.page);
		await panel.whenOpen();
		return panel;
	}

	/** Opens the only credential there is, and returns a picture of it and the labels of its fields. */
	async credential(): Promise<{ taken: Taken; labels: string[] }> {
		await this.goTo('/home/credentials');
		await this.page.locator(byTestId('resources-list-item')).first().click();
		const modal = this.page.locator(byTestId('editCredential-modal'));
		const labels = modal.locator('label');
		await labels.first().waitFor();
		await this.page.waitForTimeout(STABLE_MS);
		const png = await this.page.screenshot({ style: HIDE_MESSAGES });
		const taken = { png, seen: await readIn(modal) };
		const texts = await labels.allInnerTexts();
		await this.page.keyboard.press('Escape');
		await modal.waitFor({ state: 'hidden' });
		return { taken, labels: texts.map((text) => text.split(/[\n*]/)[0].trim()) };
	}

	/** Opens a credential, which n8n then tests, and returns what the test says went wrong. */
	async credentialError(name: string): Promise<string> {
		await this.goTo('/home/credentials');
		const item = this.page.locator(byTestId('resources-list-item'));
		await item.getByText(name, { exact: true }).click();
		const modal = this.page.locator(byTestId('editCredential-modal'));
		await modal.getByText('More details').click();
		const said = await modal
			.getByText(/Base URL|connection/)
			.first()
			.innerText();
		await this.page.keyboard.press('Escape');
		await modal.waitFor({ state: 'hidden' });
		return said;
	}

	/** Whether what is shown is dark, by the colour of the page. */
	async isDark(): Promise<boolean> {
		return await this.page.evaluate(() => {
			const { backgroundColor } = getComputedStyle(document.body);
			const canvas = document.createElement('canvas').getContext('2d')!;
			canvas.fillStyle = backgroundColor;
			canvas.fillRect(0, 0, 1, 1);
			const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
			return red + green + blue < 384;
		});
	}

	/**
	 * Shows a page of the editor as a click on a link does: the editor takes seconds to load. By way
	 * of a page with nothing that could be taken for what is to come; what was changed is not saved.
	 */
	private async goTo(path: string): Promise<void> {
		const between = this.page.locator(byTestId('personal-settings-container'));
		const leave = this.page.getByRole('button', { name: 'Leave without saving' });
		const shown = between.or(leave).first();
		const pass = async (timeout: number) => {
			await this.follow('/settings/personal');
			await shown.waitFor({ timeout });
			if (await leave.isVisible()) await leave.click();
			await between.waitFor({ timeout });
		};
		// A navigation of the editor's own, such as the one behind signing in or behind saving, can take
		// the place of this one, also once it was allowed to leave.
		await pass(OVERTAKEN_MS).catch(async () => await pass(TIMEOUT_MS));
		await this.follow(path);
	}

	/** What the editor does for a link. */
	private async follow(path: string): Promise<void> {
		await this.page.evaluate((to) => {
			const { __vue_app__: app } = document.querySelector('#app') as unknown as {
				__vue_app__: {
					config: { globalProperties: { $router: { push: (to: string) => Promise<void> } } };
				};
			};
			void app.config.globalProperties.$router.push(to);
		}, path);
	}

	private async open(path: string, name: string): Promise<NodePanel> {
		await this.goTo(path);
		return await new Canvas(this.page).open(name);
	}
}

/** The list of nodes and their actions that can be added to a workflow. */
export class NodesPanel {
	private readonly page: Page;
	private readonly names: Locator;

	constructor(page: Page) {
		this.page = page;
		this.names = page.locator(byTestId('node-creator-item-name')).filter({ visible: true });
	}

	async whenOpen(): Promise<void> {
		await this.page.locator(byTestId('node-creator-search-bar')).waitFor();
	}

	/** Types words and waits until all of these names are found; nothing is found before. */
	async finds(words: string, names: string[]): Promise<void> {
		const bar = this.page.locator(byTestId('node-creator-search-bar'));
		await bar.fill('zzzzzzzz');
		await this.names.first().waitFor({ state: 'hidden' });
		await bar.fill(words);
		for (const name of names) await this.names.getByText(name, { exact: true }).first().waitFor();
	}

	/** Types words and returns the names found once they include the expected one, best first. */
	async search(words: string, expected: string): Promise<string[]> {
		await this.page.locator(byTestId('node-creator-search-bar')).fill(words);
		await this.names.getByText(expected, { exact: true }).first().waitFor();
		return await this.settled();
	}

	/** Clicks a node that was found, and returns the headings of what it offers. */
	async choose(name: string): Promise<string[]> {
		await this.names.getByText(name, { exact: true }).first().click();
		const categories = this.categories();
		await categories.first().waitFor();
		await this.settled();
		return (await categories.allInnerTexts()).map((text) => text.trim());
	}

	/** The description below the name of a node that was found. */
	async descriptionOf(name: string): Promise<string> {
		const exact = this.names.filter({ hasText: new RegExp(`^${name}$`) });
		const entry = this.page.locator(byTestId('item-iterator-item')).filter({ has: exact });
		return await entry.locator(byTestId('node-creator-item-description')).innerText();
	}

	/** Opens or closes what stands under a heading. */
	async toggle(heading: string): Promise<void> {
		await this.categories().filter({ hasText: heading }).click();
		await this.settled({ mayBeEmpty: true });
	}

	/** The names that are shown. */
	async shown(): Promise<string[]> {
		return (await this.names.allInnerTexts()).map((text) => text.trim());
	}

	/** The names that are shown once they have been the same for a while: a list slides in and out. */
	private async settled({ mayBeEmpty = false } = {}): Promise<string[]> {
		let before: string[] | undefined;
		for (let waitedMs = 0; waitedMs < SETTLING_MS; waitedMs += STABLE_MS) {
			await this.page.waitForTimeout(STABLE_MS);
			const now = await this.shown();
			if (now.join() === before?.join() && (mayBeEmpty || now.length > 0)) return now;
			before = now;
		}
		return before ?? [];
	}

	/** Clicks an action: the node is added, and its panel opens. */
	async add(action: string): Promise<NodePanel> {
		await this.names.getByText(action, { exact: true }).click();
		const panel = new NodePanel(this.page);
		await panel.whenOpen();
		return panel;
	}

	/** Clicks a node that has nothing to choose from, and waits until the list is gone. */
	async pick(name: string): Promise<void> {
		await this.names.getByText(name, { exact: true }).first().click();
		await this.page.locator(byTestId('node-creator')).waitFor({ state: 'hidden' });
	}

	async picture(): Promise<Taken> {
		await this.page.mouse.move(0, 0);
		await this.page.waitForTimeout(500);
		const panel = this.page.locator(byTestId('node-creator'));
		return { png: await panel.screenshot({ style: HIDE_MESSAGES }), seen: await readIn(panel) };
	}

	private categories(): Locator {
		return this.page.locator(byTestId('node-creator-category-item'));
	}
}

/** What stands over the canvas and is no part of the workflow. */
const CONTROLS = [
	'.el-notification',
	'.vue-flow__minimap',
	'.vue-flow__panel',
	byTestId('canvas-controls'),
	':has(> [data-test-id^="execute-workflow-button"])',
	':has(> * > [data-test-id^="execute-workflow-button"])',
	byTestId('workflow-chat-button'),
	':has(> [data-test-id="radio-button-workflow"])',
	':has(> * > [data-test-id="radio-button-workflow"])',
	':has(> [data-test-id="add-sticky-button"])',
	byTestId('command-bar-button'),
	byTestId('add-sticky-button'),
	byTestId('toggle-focus-panel-button'),
	byTestId('instance-ai-canvas-action-button'),
];
/** What is shown around the nodes in a picture, at the size of the nodes: their names, for the most. */
const AROUND = { left: 60, top: 30, right: 90, bottom: 130 };

/** The canvas of a workflow. */
export class Canvas {
	private readonly page: Page;
	private readonly canvas: Locator;

	constructor(page: Page) {
		this.page = page;
		this.canvas = page.locator('.vue-flow').first();
	}

	/** Resolves when its nodes are there. */
	async whenShown(): Promise<void> {
		await this.page.locator(byTestId('canvas-node')).first().waitFor();
	}

	/**
	 * The names of the nodes that the editor marks as not ready to run, sorted; waits a little for them
	 * to become the expected ones, because the editor draws the canvas anew after saving.
	 */
	async nodesWithIssues(expected: string[]): Promise<string[]> {
		const issues = this.page.locator(byTestId('node-issues'));
		const nodes = this.page.locator(byTestId('canvas-node')).filter({ has: issues });
		const deadline = Date.now() + SETTLING_MS;
		for (;;) {
			const names = await nodes.evaluateAll((all) =>
				all.map((each) => each.dataset.nodeName ?? ''),
			);
			const isExpected = names.sort().join() === [...expected].sort().join();
			if (isExpected || Date.now() > deadline) return names;
			await this.page.waitForTimeout(100);
		}
	}

	/** The files of the nodes' icons, in the order of the nodes. */
	async icons(): Promise<string[]> {
		const icons = this.page.locator(byTestId('canvas-node')).locator('img');
		await icons.first().waitFor();
		return await icons.evaluateAll((all) =>
			all.map((icon) => (icon as HTMLImageElement).src.split('/').at(-1)!),
		);
	}

	/** Opens the panel of a node. */
	async open(name: string): Promise<NodePanel> {
		await this.page.dblclick(`${byTestId('canvas-node')}[data-node-name="${name}"]`);
		const panel = new NodePanel(this.page);
		await panel.whenOpen();
		return panel;
	}

	/** Pastes a workflow onto the empty canvas with the keyboard. */
	async paste(workflow: string): Promise<void> {
		await this.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await this.page.evaluate((text) => navigator.clipboard.writeText(text), workflow);
		await this.page.keyboard.press('Control+v');
		await this.whenShown();
	}

	/** Opens the list of triggers with the button of an empty canvas. */
	async addFirstStep(): Promise<NodesPanel> {
		await this.page.locator(byTestId('canvas-plus-button')).click();
		return await this.nodesPanel();
	}

	/** Opens the list of what can follow a node with the plus beside it. */
	async addAfter(name: string): Promise<NodesPanel> {
		const handle = `${byTestId('canvas-node-output-handle')}[data-node-name="${name}"]`;
		await this.page.locator(handle).locator(byTestId('canvas-handle-plus')).click();
		return await this.nodesPanel();
	}

	/** Opens the list of what can replace a node, from the menu of a right click. */
	async replace(name: string): Promise<NodesPanel> {
		await this.page
			.locator(`${byTestId('canvas-node')}[data-node-name="${name}"]`)
			.click({ button: 'right' });
		await this.page.locator(byTestId('context-menu')).getByText('Replace', { exact: true }).click();
		return await this.nodesPanel();
	}

	private async nodesPanel(): Promise<NodesPanel> {
		const panel = new NodesPanel(this.page);
		await panel.whenOpen();
		return panel;
	}

	/** The names of the nodes, in the order in which they were added; waits for so many of them. */
	async nodeNames(count = 1): Promise<string[]> {
		const nodes = this.page.locator(byTestId('canvas-node'));
		await nodes.nth(count - 1).waitFor();
		return await nodes.evaluateAll((all) => all.map((each) => each.dataset.nodeName ?? ''));
	}

	/** Chooses a time zone under ⋯ → Settings → Timezone. */
	async chooseTimezone(words: string): Promise<void> {
		await this.page.getByRole('button', { name: 'More actions' }).first().click();
		await this.page.getByRole('menuitem', { name: 'Settings', exact: true }).click();
		const dialog = this.page.locator(byTestId('workflow-settings-dialog'));
		await dialog.getByText('Timezone', { exact: true }).waitFor();
		await dialog.locator(byTestId('workflow-settings-timezone')).click();
		await this.page.keyboard.type(words);
		await this.page.getByRole('option', { name: words }).first().click();
		await this.page.getByRole('button', { name: 'Save', exact: true }).click();
		await dialog.waitFor({ state: 'hidden' });
	}

	/** Publishes the workflow with the button, confirms, and returns its id. */
	async publish(): Promise<string> {
		const published = this.page.waitForResponse((response) =>
			/^\/rest\/workflows\/[^/]+\/activate$/.test(new URL(response.url()).pathname),
		);
		await this.page.locator(byTestId('workflow-open-publish-modal-button')).click();
		await this.page.locator(byTestId('workflow-publish-button')).click();
		const { data } = await (await published).json();
		return data.id;
	}

	/** Saves the workflow and returns its id. */
	async save(): Promise<string> {
		const saved = this.page.waitForResponse((response) => {
			const { pathname } = new URL(response.url());
			const isSaving = ['POST', 'PATCH'].includes(response.request().method());
			return isSaving && /^\/rest\/workflows(\/[^/]+)?$/.test(pathname);
		});
		await this.canvas.click({ position: { x: 5, y: 5 } });
		await this.page.keyboard.press('Control+s');
		const { data } = await (await saved).json();
		// Only then does the editor go to the address of what was saved, from wherever it is by then.
		await this.page.waitForURL(({ pathname }) => pathname === `/workflow/${data.id}`);
		return data.id;
	}

	/** The texts of the sticky notes. */
	async notes(): Promise<string[]> {
		return await this.page.locator(byTestId('sticky')).allInnerTexts();
	}

	/** Makes a picture of the whole workflow. */
	async picture(): Promise<Taken> {
		await this.canvas.click({ position: { x: 5, y: 5 } });
		// All of it, and then a little smaller: the editor leaves no room for the names.
		await this.page.keyboard.press('1');
		await this.page.waitForTimeout(1000);
		await this.page.keyboard.press('-');
		await this.page.waitForTimeout(1000);
		const clip = await this.workflowBox();
		const style = `${CONTROLS.join(', ')} { display: none !important; }`;
		return { png: await this.page.screenshot({ style, clip }), seen: await readIn(this.canvas) };
	}

	/** Where the nodes are, with what is around them. */
	private async workflowBox(): Promise<{ x: number; y: number; width: number; height: number }> {
		const sides = await this.page.locator('.vue-flow__node').evaluateAll((all) => {
			const boxes = all.map((each) => each.getBoundingClientRect());
			return {
				left: Math.min(...boxes.map(({ left }) => left)),
				top: Math.min(...boxes.map(({ top }) => top)),
				right: Math.max(...boxes.map(({ right }) => right)),
				bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
			};
		});
		const zoom = await this.page
			.locator('.vue-flow__transformationpane')
			.first()
			.evaluate((pane) => new DOMMatrix(getComputedStyle(pane).transform).a);
		const canvas = (await this.canvas.boundingBox())!;
		const left = Math.max(canvas.x, sides.left - AROUND.left * zoom);
		const top = Math.max(canvas.y, sides.top - AROUND.top * zoom);
		const right = Math.min(canvas.x + canvas.width, sides.right + AROUND.right * zoom);
		const bottom = Math.min(canvas.y + canvas.height, sides.bottom + AROUND.bottom * zoom);
		return { x: left, y: top, width: right - left, height: bottom - top };
	}
}

/** The panel of a node: its input, its parameters, its output. */
export class NodePanel {
	private readonly page: Page;
	private readonly parameters: Locator;
	private readonly output: Locator;

	constructor(page: Page) {
		this.page = page;
		this.parameters = page.locator(byTestId('node-parameters')).first();
		this.output = page.locator(byTestId('output-panel'));
	}

	/** Resolves when it is there with its parameters. */
	async whenOpen(): Promise<void> {
		await this.parameters.locator(byTestId('input-label')).first().waitFor();
	}

	/** The labels of the parameters that are shown, in order. */
	async labels(): Promise<string[]> {
		const labels = this.parameters.locator(byTestId('input-label')).filter({ visible: true });
		// Below the label stands what else its line offers.
		return (await labels.allInnerTexts()).map((text) => text.trim().split('\n')[0]);
	}

	/** The labels that are shown; waits a little for them to become the expected ones. */
	async settledLabels(expected: string[]): Promise<string[]> {
		const deadline = Date.now() + SETTLING_MS;
		for (;;) {
			const labels = await this.labels();
			if (labels.join() === expected.join() || Date.now() > deadline) return labels;
			await this.page.waitForTimeout(100);
		}
	}

	/** Chooses one of a parameter's choices by its name. */
	async choose(parameter: string, choice: string): Promise<void> {
		await this.open(parameter);
		const headline = this.page.locator('.option-headline').getByText(choice, { exact: true });
		await this.visibleOptions().filter({ has: headline }).click();
		await this.visibleOptions().first().waitFor({ state: 'hidden' });
	}

	/** Chooses one of a parameter's many choices, after typing its name to find it. */
	async find(parameter: string, choice: string): Promise<void> {
		const input = this.parameters.locator(byTestId(`parameter-input-${parameter}`));
		// It can be clicked, and does nothing, until its choices are loaded.
		await input.locator('input:enabled').first().waitFor();
		await this.open(parameter);
		await this.page.keyboard.type(choice);
		const headline = this.page.locator('.option-headline').getByText(choice, { exact: true });
		await this.visibleOptions().filter({ has: headline }).click();
		await this.visibleOptions().first().waitFor({ state: 'hidden' });
	}

	private async open(parameter: string): Promise<void> {
		await this.parameters.locator(byTestId(`parameter-input-${parameter}`)).click();
		await this.visibleOptions().first().waitFor();
	}

	private visibleOptions(): Locator {
		return this.page.locator(byTestId('parameter-input-item')).filter({ visible: true });
	}

	/** Types into a text parameter. */
	async fill(parameter: string, text: string): Promise<void> {
		const input = this.parameters.locator(byTestId(`parameter-input-${parameter}`));
		await input.locator('input').fill(text);
	}

	/** Types a day, or a day and a time, into a parameter with a calendar. */
	async fillDate(parameter: string, text: string): Promise<void> {
		await this.fill(parameter, text);
		await this.page.keyboard.press('Enter');
	}

	/** What a parameter shows as its value. */
	async value(parameter: string): Promise<string> {
		const input = this.parameters.locator(byTestId(`parameter-input-${parameter}`));
		return await input.locator('input').inputValue();
	}

	/** How many parameters say that the model defines them. */
	async leftToModel(): Promise<number> {
		const told = this.parameters.getByText('Defined automatically by the model');
		await told.first().waitFor();
		return await told.count();
	}

	/** Creates the first credential of a node, saves it, and returns what n8n's test of it says. */
	async createCredential(fields: Record<string, string>): Promise<string> {
		const empty = this.parameters.locator(byTestId('node-credentials-empty-state'));
		await empty.getByRole('button').first().click();
		const modal = this.page.locator(byTestId('editCredential-modal'));
		for (const [name, value] of Object.entries(fields)) {
			await modal
				.locator(byTestId(`parameter-input-${name}`))
				.locator('input')
				.fill(value);
		}
		// The editor saves the node with it a moment later; a step that is run before has none.
		const chosen = this.page.waitForResponse((response) => {
			const { pathname } = new URL(response.url());
			const sent = response.request().postData() ?? '';
			return pathname.startsWith('/rest/workflows') && /"credentials":\{"/.test(sent);
		});
		// The window closes by itself once the test has succeeded, on a busy machine before its text is read.
		const tested = this.page.waitForResponse(
			(response) => new URL(response.url()).pathname === '/rest/credentials/test',
		);
		await modal.locator(byTestId('credential-save-button')).click();
		const { data } = (await (await tested).json()) as { data: { message: string } };
		await modal.waitFor({ state: 'hidden' });
		await chosen;
		return data.message;
	}

	/** Goes back to the canvas. */
	async close(): Promise<void> {
		await this.page.locator(byTestId('ndv-close-button')).click();
		await this.page.locator(byTestId('ndv')).waitFor({ state: 'hidden' });
	}

	/** Opens the list of a resource locator and returns it. */
	async list(parameter: string): Promise<string[]> {
		const locator = this.parameters.locator(byTestId(`resource-locator-${parameter}`));
		await locator.locator(byTestId('rlc-input')).click();
		return await this.listed();
	}

	/** Looks for words in the opened list of a resource locator and returns what it then holds. */
	async search(words: string): Promise<string[]> {
		const answer = this.page.waitForResponse((response) => {
			const request = response.request();
			return (
				request.url().endsWith('/resource-locator-results') &&
				request.postDataJSON().filter === words
			);
		});
		await this.page.keyboard.type(words);
		await (await answer).finished();
		return await this.listed();
	}

	private async listed(): Promise<string[]> {
		await this.page.locator(byTestId('rlc-item-loading')).first().waitFor({ state: 'hidden' });
		const items = this.page.locator(byTestId('rlc-item'));
		await items.first().waitFor();
		return (await items.allInnerTexts()).map((text) => text.trim());
	}

	/** Picks from the opened list of a resource locator and returns what the parameter then shows. */
	async pick(parameter: string, name: string): Promise<string> {
		await this.page.locator(byTestId('rlc-item')).getByText(name, { exact: true }).first().click();
		const locator = this.parameters.locator(byTestId(`resource-locator-${parameter}`));
		await this.page.locator(byTestId('rlc-item')).first().waitFor({ state: 'hidden' });
		return await locator.locator(byTestId('rlc-input')).inputValue();
	}

	/** Clicks the button of the step and waits until it has ended, well or not. */
	async execute(): Promise<void> {
		const before = this.output.locator('[data-test-id^="node-run-status-"]');
		if ((await before.count()) > 0) throw new Error('The step has run already');
		await this.page.locator(byTestId('node-execute-button')).last().click();
		await before.first().waitFor();
	}

	/** What the button of the step says. */
	async executeLabel(): Promise<string> {
		return (await this.page.locator(byTestId('node-execute-button')).last().innerText()).trim();
	}

	/** The hint of the node above the output. */
	async hint(): Promise<string> {
		return (await this.output.locator(byTestId('node-hint')).first().innerText()).trim();
	}

	/** How many items came out, e.g. `3 items`. */
	async itemCount(): Promise<string> {
		return (await this.output.locator(byTestId('ndv-items-count')).innerText()).trim();
	}

	/** Shows the output in one of the ways that the editor offers and returns its text. */
	async outputAs(display: 'table' | 'schema' | 'json' | 'binary'): Promise<string> {
		await this.output.locator(byTestId(`radio-button-${display}`)).click();
		const shown = this.output.locator(byTestId('ndv-data-container'));
		await shown.filter({ hasText: /\S/ }).waitFor();
		return await shown.innerText();
	}

	/** Views the only file of the output and plays it for a moment; returns the seconds played. */
	async playAudio(): Promise<number> {
		await this.output.locator(byTestId('ndv-view-binary-data')).click();
		const player = this.page.locator('audio');
		return await player.evaluate(async (element) => {
			const audio = element as HTMLAudioElement;
			audio.muted = true;
			await audio.play();
			while (audio.currentTime === 0) await new Promise((resolve) => setTimeout(resolve, 100));
			audio.pause();
			return audio.currentTime;
		});
	}

	/**
	 * The error in the output: its title, and the text below it. Waits until the title is `expected`,
	 * as n8n's editor completes it once it has the whole execution.
	 */
	async error(expected?: RegExp): Promise<{ message: string; description: string }> {
		const title = this.output.locator(byTestId('node-error-message'));
		const message = await title.filter({ hasText: expected }).innerText();
		const description = await this.output.locator(byTestId('node-error-description')).innerText();
		return { message: message.trim(), description: description.trim() };
	}

	/** Makes a picture of the panel, without the messages that lie over it for a moment. */
	async picture(): Promise<Taken> {
		await this.page.mouse.move(0, 0);
		await this.page.waitForTimeout(500);
		const png = await this.page.locator(byTestId('ndv')).screenshot({ style: HIDE_MESSAGES });
		return { png, seen: await readIn(this.parameters) };
	}
}
