import { Link } from 'wouter-preact';
import type { Chat } from '../../../../lifelog/api.ts';
import { readChat, readChats, type Page, type Session } from '../api.mts';
import { dateTimeInWords } from '../format.mts';
import { Load, NotFound, Pages, readPages, useTitle } from '../parts.tsx';
import { useLoad } from '../useLoad.mts';

/** All chats, newest first. */
export function Chats({ session: { timezone } }: { session: Session }) {
	useTitle('Chats');
	const read = (cursor?: string) => readChats(timezone, cursor);
	const chats = useLoad<Page<Chat, string>>('chats', (shown) => readPages(read, shown));
	return (
		<>
			<h1>Chats</h1>
			<Pages of={chats} read={read}>
				{(found) => <List chats={found} timezone={timezone} />}
			</Pages>
		</>
	);
}

function List({ chats, timezone }: { chats: Chat[]; timezone: string }) {
	if (chats.length === 0) return <p class="quiet">There are no chats.</p>;
	return (
		<ol class="plain-list rows">
			{chats.map(({ id, summary, createdAt }) => (
				<li key={id}>
					<Link href={`/chats/${encodeURIComponent(id)}`} data-entry>
						<bdi>{summary || 'Untitled'}</bdi>
					</Link>
					<time class="quiet" dateTime={createdAt}>
						{dateTimeInWords(createdAt, timezone)}
					</time>
				</li>
			))}
		</ol>
	);
}

/** A chat with the assistant. */
export function ChatView({ id, session: { timezone } }: { id: string; session: Session }) {
	const loaded = useLoad(`chat ${id}`, async () => {
		const [chat, { renderMarkdown }] = await Promise.all([
			readChat(id, timezone),
			import('../markdown.mts'),
		]);
		return { chat, renderMarkdown };
	});
	const name = loaded.value?.chat.summary || 'Chat';
	useTitle(name);
	return (
		<Load of={loaded} notFound={<NotFound what="chat" href="/chats" to="chats" />}>
			{({ chat, renderMarkdown }) => (
				<article>
					<h1>
						<bdi>{name}</bdi>
					</h1>
					<p class="quiet">{dateTimeInWords(chat.createdAt, timezone)}</p>
					{chat.messages.filter(hasText).map(({ id: messageId, user, text, createdAt }) => (
						<section key={messageId} class={`message ${user.role}`}>
							<h2>
								<bdi>{user.role === 'assistant' ? 'Assistant' : (user.name ?? 'You')}</bdi>{' '}
								<time class="quiet" dateTime={createdAt}>
									{dateTimeInWords(createdAt, timezone)}
								</time>
							</h2>
							<div
								class="markdown"
								dangerouslySetInnerHTML={{ __html: renderMarkdown(text ?? '') }}
							/>
						</section>
					))}
				</article>
			)}
		</Load>
	);
}

/** Whether a message has text. The assistant's tool calls don't. */
const hasText = ({ text }: Chat['messages'][number]) => Boolean(text?.trim());
