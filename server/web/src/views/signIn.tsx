import { useState } from 'preact/hooks';
import { signIn } from '../api.mts';
import { useTitle } from '../parts.tsx';

/** Asks for the API key once. */
export function SignIn({
	hasEnded,
	onSignedIn,
}: {
	/** Whether somebody was signed in until now. */
	hasEnded: boolean;
	onSignedIn: () => void;
}) {
	const [key, setKey] = useState('');
	const [problem, setProblem] = useState('');
	useTitle('Sign in');
	return (
		<main class="sign-in">
			<h1>Lifelogs</h1>
			{hasEnded && <p>Your session has ended. Sign in again to continue.</p>}
			<form
				onSubmit={(event) => {
					event.preventDefault();
					signIn(key.trim()).then(onSignedIn, (error: Error) => setProblem(error.message));
				}}
			>
				<label for="key">API key</label>
				<input
					id="key"
					type="password"
					autocomplete="current-password"
					required
					autofocus
					value={key}
					onInput={(event) => setKey(event.currentTarget.value)}
				/>
				<button type="submit">Sign in</button>
				<p role="alert" class="problem">
					{problem}
				</p>
			</form>
			<p class="quiet">
				lifelog-server printed the key at its first start. You stay signed in for 30 days.
			</p>
		</main>
	);
}
