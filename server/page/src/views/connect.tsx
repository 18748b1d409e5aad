import { useState } from 'preact/hooks';
import {
	endSession,
	endSessions,
	makeKey,
	readConnect,
	removeKey,
	type Key,
	type Session,
	type SignedIn,
} from '../api.mts';
import { dateTimeInWords } from '../format.mts';
import { Buttons, Confirm, Dialog, Load, useFocus, useTitle } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';

/** Purposes of keys. Keys for agents are read-only by default. */
const KINDS = [
	{ kind: 'n8n', name: 'n8n', isReadOnly: false, shortcut: '1' },
	{ kind: 'mcp', name: 'MCP client', isReadOnly: true, shortcut: '2' },
	{ kind: 'script', name: 'Script', isReadOnly: true, shortcut: '3' },
] as const;
type Kind = (typeof KINDS)[number];

/** A new key, which is shown only once. */
interface Made {
	kind: Kind['kind'];
	name: string;
	key: string;
}

/** Keys for other programs, and signed-in browsers. */
export function Connect({ session }: { session: Session }) {
	useTitle('Connect');
	return (
		<>
			<h1>Connect</h1>
			{session.isOwner ? <Owned timezone={session.timezone} /> : <NeedsLink />}
		</>
	);
}

function NeedsLink() {
	return (
		<>
			<p>
				This browser signed in with an API key, which can't make or remove keys. Make a link, and
				open it here:
			</p>
			<pre>
				<code>lifelog-server link &lt;folder&gt;</code>
			</pre>
		</>
	);
}

function Owned({ timezone }: { timezone: string }) {
	const connect = useLoad('connect', readConnect);
	const [wanted, setWanted] = useState<Kind>();
	const [made, setMade] = useState<Made>();
	const [removing, setRemoving] = useState<Key>();
	const [isEndingAll, setEndingAll] = useState(false);
	return (
		<Load of={connect}>
			{({ publicUrl, keys, sessions }) => (
				<>
					<section aria-label="New key">
						<p>Make a key for each program that reads your lifelogs from this server.</p>
						<p class="buttons">
							{KINDS.map((kind) => (
								<button
									key={kind.kind}
									type="button"
									aria-keyshortcuts={kind.shortcut}
									onClick={() => setWanted(kind)}
								>
									{kind.name}
								</button>
							))}
						</p>
					</section>
					{made && (
						<NewKey
							made={made}
							address={publicUrl ?? location.origin}
							onDone={() => setMade(undefined)}
						/>
					)}
					<section>
						<h2>Keys</h2>
						{keys.length === 0 && <p class="quiet">There are no keys yet.</p>}
						<ul class="plain-list access">
							{keys.map((key) => (
								<KeyRow
									key={key.id}
									entry={key}
									timezone={timezone}
									onRemove={() => setRemoving(key)}
								/>
							))}
						</ul>
					</section>
					<section>
						<h2>Browsers</h2>
						<ul class="plain-list access">
							{sessions.map((each) => (
								<SessionRow
									key={each.id}
									entry={each}
									timezone={timezone}
									onEnded={connect.reload}
								/>
							))}
						</ul>
						<button type="button" aria-keyshortcuts="x" onClick={() => setEndingAll(true)}>
							End all
						</button>
					</section>
					{wanted && (
						<MakeKey
							kind={wanted}
							onClose={() => setWanted(undefined)}
							onMade={(next) => {
								setWanted(undefined);
								setMade(next);
								connect.reload();
							}}
						/>
					)}
					{removing && (
						<Confirm
							title={`Remove the key ${removing.name}`}
							text="Programs that use it stop working, and browsers that signed in with it have to sign in again."
							name="Remove"
							carryOut={() => removeKey(removing.id)}
							onDone={() => {
								setRemoving(undefined);
								setMade(undefined);
								connect.reload();
							}}
							onClose={() => setRemoving(undefined)}
						/>
					)}
					{isEndingAll && (
						<Confirm
							title="End all sessions"
							text="All browsers have to sign in again, also this one. Keys stay as they are."
							name="End all"
							carryOut={endSessions}
							onDone={connect.reload}
							onClose={() => setEndingAll(false)}
						/>
					)}
				</>
			)}
		</Load>
	);
}

function MakeKey({
	kind: { kind, name: proposed, ...kindOf },
	onMade,
	onClose,
}: {
	kind: Kind;
	onMade: (made: Made) => void;
	onClose: () => void;
}) {
	const [name, setName] = useState<string>(proposed);
	const [isReadOnly, setReadOnly] = useState<boolean>(kindOf.isReadOnly);
	const [problem, attempt] = useAttempt();
	const field = useFocus();
	return (
		<Dialog title={`Key for ${proposed}`} onClose={onClose}>
			<form
				class="fields"
				onSubmit={(event) => {
					event.preventDefault();
					attempt(makeKey(name, isReadOnly).then(({ key }) => onMade({ kind, name, key })));
				}}
			>
				<label for="key-name">Name</label>
				<input
					ref={field}
					id="key-name"
					required
					maxLength={100}
					autocomplete="off"
					value={name}
					onInput={({ currentTarget }) => setName(currentTarget.value)}
				/>
				<label for="key-rights">Rights</label>
				<select
					id="key-rights"
					value={isReadOnly ? 'read' : 'full'}
					onChange={({ currentTarget }) => setReadOnly(currentTarget.value === 'read')}
				>
					<option value="read">Read-only</option>
					<option value="full">Full: read and change</option>
				</select>
				<Buttons problem={problem} name="Make key" onCancel={onClose} />
			</form>
		</Dialog>
	);
}

/** A new key, and the address to use it with. */
function NewKey({
	made: { kind, name, key },
	address,
	onDone,
}: {
	made: Made;
	address: string;
	onDone: () => void;
}) {
	const fields: Record<Kind['kind'], [name: string, value: string][]> = {
		n8n: [
			['Base URL', address],
			['API Key', key],
		],
		mcp: [
			['Address', `${address}/mcp`],
			['Header', `Authorization: Bearer ${key}`],
		],
		script: [
			['Base URL', address],
			['API key', key],
			['Try it', `curl -H 'X-API-Key: ${key}' '${address}/v1/lifelogs?limit=3'`],
		],
	};
	return (
		<section class="notice" role="status" aria-label="New key">
			<p>
				The key <bdi>{name}</bdi> isn't shown again. {WHERE[kind]}
			</p>
			<dl class="facts">
				{fields[kind].map(([label, value], nth) => (
					<div key={label}>
						<dt>{label}</dt>
						<dd>
							<code class="copied">{value}</code>{' '}
							<Copy name={label} text={value} shortcut={String(4 + nth)} />
						</dd>
					</div>
				))}
			</dl>
			{kind === 'n8n' && isOfThisMachine(address) && (
				<p class="quiet">
					An n8n in Docker needs another address: <code>http://lifelog-server:8787</code> in the
					same compose file, otherwise <code>http://host.docker.internal:8787</code>. Then turn on{' '}
					<b>Allow HTTP in a Private Network</b>.
				</p>
			)}
			<button type="button" aria-keyshortcuts="d" onClick={onDone}>
				Done
			</button>
		</section>
	);
}

const WHERE: Record<Kind['kind'], string> = {
	n8n: 'Enter both in the Lifelog API credential.',
	mcp: 'Enter both in the settings of your MCP client.',
	script: 'Send it in the header X-API-Key.',
};

const isOfThisMachine = (address: string) =>
	/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(address).hostname);

/** Copies a text. Over plain HTTP from another machine, browsers have no clipboard. */
function Copy({ name, text, shortcut }: { name: string; text: string; shortcut: string }) {
	const [isCopied, setCopied] = useState(false);
	if (!isSecureContext) return null;
	return (
		<button
			type="button"
			class="plain"
			aria-label={`Copy ${name}`}
			aria-keyshortcuts={shortcut}
			onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
		>
			{isCopied ? 'Copied' : 'Copy'}
		</button>
	);
}

function KeyRow({
	entry: { name, isReadOnly, isGiven, createdAt, usedAt },
	timezone,
	onRemove,
}: {
	entry: Key;
	timezone: string;
	onRemove: () => void;
}) {
	const facts = [
		isReadOnly ? 'Read-only' : 'Full',
		...(createdAt === null ? [] : [`made ${dateTimeInWords(createdAt, timezone)}`]),
		usedAt === null ? 'not used yet' : `last used ${dateTimeInWords(usedAt, timezone)}`,
	];
	return (
		<li>
			<div>
				<strong>
					<bdi>{name}</bdi>
				</strong>
				<p class="quiet">{facts.join(' · ')}</p>
			</div>
			{isGiven ? (
				<span class="quiet">Set when the server was started</span>
			) : (
				<button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
					Remove
				</button>
			)}
		</li>
	);
}

function SessionRow({
	entry: { id, key, startedAt, usedAt, isThis },
	timezone,
	onEnded,
}: {
	entry: SignedIn;
	timezone: string;
	onEnded: () => void;
}) {
	const [problem, attempt] = useAttempt();
	const started = dateTimeInWords(startedAt, timezone);
	return (
		<li>
			<div>
				<strong>{isThis ? 'This browser' : 'Another browser'}</strong>
				<p class="quiet">
					Signed in {started} with {key === null ? 'a link' : <bdi>{`the key ${key}`}</bdi>} · last
					used {dateTimeInWords(usedAt, timezone)}
				</p>
				{problem !== '' && (
					<p class="problem" role="alert">
						{problem}
					</p>
				)}
			</div>
			<button
				type="button"
				aria-label={isThis ? 'End this session' : `End the session of ${started}`}
				onClick={() => attempt(endSession(id).then(onEnded))}
			>
				End
			</button>
		</li>
	);
}
