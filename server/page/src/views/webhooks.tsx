import { useState } from 'preact/hooks';
import { readWebhooks, removeWebhook, testWebhook, type Webhook } from '../api.mts';
import { dateTimeInWords } from '../format.mts';
import { Confirm, Load } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';
import { useLoad } from '../useLoad.mts';

/** The server's webhooks, if any. Other programs create them. */
export function Webhooks({ timezone }: { timezone: string }) {
	const webhooks = useLoad('webhooks', readWebhooks);
	const [removing, setRemoving] = useState<Webhook>();
	if (webhooks.value?.length === 0) return null;
	return (
		<section>
			<h2>Webhooks</h2>
			<Load of={webhooks}>
				{(found) => (
					<ul class="plain-list access webhooks">
						{found.map((webhook) => (
							<WebhookRow
								key={webhook.id}
								webhook={webhook}
								timezone={timezone}
								onTested={webhooks.reload}
								onRemove={() => setRemoving(webhook)}
							/>
						))}
					</ul>
				)}
			</Load>
			{removing && (
				<Confirm
					title={`Remove the webhook to ${hostOf(removing)}`}
					text="The program at this address isn't told any more. What waits for it isn't sent."
					name="Remove"
					carryOut={() => removeWebhook(removing.id)}
					onDone={() => {
						setRemoving(undefined);
						webhooks.reload();
					}}
					onClose={() => setRemoving(undefined)}
				/>
			)}
		</section>
	);
}

const hostOf = ({ url }: Webhook) => new URL(url).host;

function WebhookRow({
	webhook,
	timezone,
	onTested,
	onRemove,
}: {
	webhook: Webhook;
	timezone: string;
	onTested: () => void;
	onRemove: () => void;
}) {
	const { id, url, description, reason, waiting, lastDelivery } = webhook;
	const [outcome, setOutcome] = useState('');
	const [problem, attempt] = useAttempt();
	const test = async () => {
		setOutcome('');
		const reached = await testWebhook(id);
		setOutcome(`Test: ${inWords('status' in reached ? reached : { status: null, ...reached })}`);
		onTested();
	};
	const last =
		lastDelivery &&
		`last delivery ${dateTimeInWords(lastDelivery.at, timezone)}: ${inWords(lastDelivery)}`;
	const facts = [last ?? 'nothing sent yet', ...(waiting > 0 ? [`${waiting} waiting`] : [])];
	return (
		<li>
			<div>
				<strong>
					<bdi>{description ?? hostOf(webhook)}</bdi>
				</strong>
				<p>
					<bdi>{url}</bdi>
				</p>
				<p class="quiet">{facts.join(' · ')}</p>
				{reason !== null && (
					<p class="problem">Paused: {reason}. If a test succeeds, it is active again.</p>
				)}
				<p role="status">{outcome}</p>
				{problem !== '' && (
					<p class="problem" role="alert">
						{problem}
					</p>
				)}
			</div>
			<span class="buttons">
				<button
					type="button"
					aria-label={`Test the webhook to ${url}`}
					onClick={() => attempt(test())}
				>
					Test
				</button>
				<button type="button" aria-label={`Remove the webhook to ${url}`} onClick={onRemove}>
					Remove
				</button>
			</span>
		</li>
	);
}

const inWords = ({ status, error }: { status: number | null; error?: string | null }) =>
	status === null ? (error ?? 'no answer') : `status ${status}`;
