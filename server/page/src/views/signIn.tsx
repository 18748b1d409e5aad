import { useState } from 'preact/hooks';
import icon from '../icon.svg';
import { signIn } from '../api.mts';
import { Problem, useFocus, useTitle } from '../parts.tsx';
import { useAttempt } from '../useAttempt.mts';

/** Explains how to sign in: with a link or an API key. */
export function SignIn({
	hasEnded,
	linkProblem,
	onSignedIn,
}: {
	/** Whether the session has just ended. */
	hasEnded: boolean;
	/** Why the link in the address isn't valid; empty without a link. */
	linkProblem: string;
	onSignedIn: () => void;
}) {
	const [key, setKey] = useState('');
	const [problem, attempt] = useAttempt();
	const field = useFocus();
	useTitle('Sign in');
	return (
		<main class="sign-in">
			<h1>
				<img src={icon} alt="" width={36} height={36} /> Lifelogs
			</h1>
			<p>
				{hasEnded
					? 'Your session has ended. Sign in again to continue.'
					: 'Sign in to look at your days, from your own server.'}
			</p>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					attempt(signIn({ key: key.trim() }).then(onSignedIn));
				}}
			>
				<label for="key">API key</label>
				<input
					ref={field}
					id="key"
					type="password"
					autocomplete="off"
					required
					value={key}
					onInput={(event) => setKey(event.currentTarget.value)}
				/>
				<button type="submit">Sign in</button>
				<Problem text={problem || linkProblem} />
			</form>
			<p class="quiet">
				Without a key, open the link that lifelog-server printed at its start, or make another:{' '}
				<code>lifelog-server link &lt;folder&gt;</code>. You stay signed in for 30 days.
			</p>
		</main>
	);
}
