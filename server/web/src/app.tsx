import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { readSession, signOut, whenSessionEnds, type Session } from './api.mts';
import { isDay } from './format.mts';
import { KeysHelp, useKeys } from './keys.tsx';
import { Load, NotFound, Problem } from './parts.tsx';
import { useAttempt } from './useAttempt.mts';
import { useArrival } from './useArrival.mts';
import { forgetLoaded, useLoad } from './useLoad.mts';
import { Calendar } from './views/calendar.tsx';
import { ChatView, Chats } from './views/chats.tsx';
import { DayView } from './views/day.tsx';
import { LifelogView } from './views/lifelog.tsx';
import { Recordings } from './views/recordings.tsx';
import { Search } from './views/search.tsx';
import { SignIn } from './views/signIn.tsx';
import { StatusView } from './views/status.tsx';

/** The views that the header leads to, each with its key. */
const VIEWS = [
	{ path: '/', name: 'Calendar', key: 'c' },
	{ path: '/search', name: 'Search', key: '/' },
	{ path: '/chats', name: 'Chats', key: 'h' },
	{ path: '/recordings', name: 'Recordings', key: 'r' },
	{ path: '/status', name: 'Status', key: 's' },
];
const viewsOf = ({ hasRecordings }: Session) =>
	VIEWS.filter(({ path }) => hasRecordings || path !== '/recordings');

/** The whole page: signed in, the view of its address. */
export function App() {
	const session = useLoad('session', readSession);
	const [hasEnded, setEnded] = useState(false);
	useEffect(
		() =>
			whenSessionEnds(() => {
				forgetLoaded();
				setEnded(true);
			}),
		[],
	);
	useKeys();
	useArrival();
	const onSignedIn = () => {
		setEnded(false);
		session.reload();
	};
	const onSignedOut = () => {
		forgetLoaded();
		session.reload();
	};
	return (
		<Load of={session}>
			{(options) =>
				options === null || hasEnded ? (
					<SignIn hasEnded={hasEnded} onSignedIn={onSignedIn} />
				) : (
					<>
						<a class="skip" href="#main">
							Skip to content
						</a>
						<Header views={viewsOf(options)} onSignedOut={onSignedOut} />
						<main id="main" tabIndex={-1}>
							<Switch>
								<Route path="/">
									<Calendar session={options} />
								</Route>
								<Route path="/days/:day">
									{({ day }) =>
										isDay(day!) ? <DayView key={day} day={day!} session={options} /> : <NotFound />
									}
								</Route>
								<Route path="/lifelogs/:id">
									{({ id }) => <LifelogView key={id} id={id!} session={options} />}
								</Route>
								<Route path="/search">
									<Search session={options} />
								</Route>
								<Route path="/chats">
									<Chats session={options} />
								</Route>
								<Route path="/chats/:id">
									{({ id }) => <ChatView key={id} id={id!} session={options} />}
								</Route>
								{options.hasRecordings && (
									<Route path="/recordings">
										<Recordings session={options} />
									</Route>
								)}
								<Route path="/status">
									<StatusView session={options} />
								</Route>
								<Route>
									<NotFound />
								</Route>
							</Switch>
						</main>
					</>
				)
			}
		</Load>
	);
}

function Header({ views, onSignedOut }: { views: typeof VIEWS; onSignedOut: () => void }) {
	const [path] = useLocation();
	const [problem, attempt] = useAttempt();
	return (
		<header>
			<nav aria-label="Main">
				{views.map(({ path: to, name, key }) => (
					<Link
						key={to}
						href={to}
						aria-current={path === to ? 'page' : undefined}
						aria-keyshortcuts={key}
						title={`${name} (${key})`}
					>
						{name}
					</Link>
				))}
			</nav>
			<ThemeSwitch />
			<KeysHelp />
			<button
				type="button"
				class="plain"
				aria-keyshortcuts="o"
				onClick={() => attempt(signOut().then(onSignedOut))}
			>
				Sign out
			</button>
			<Problem text={problem} />
		</header>
	);
}

const THEMES = ['system', 'light', 'dark'] as const;

function ThemeSwitch() {
	const [theme, setTheme] = useState<string>(localStorage.getItem('theme') ?? 'system');
	useLayoutEffect(() => {
		document.documentElement.dataset.theme = theme;
		localStorage.setItem('theme', theme);
	}, [theme]);
	return (
		<label class="theme">
			<span class="hidden">Theme</span>
			<select
				value={theme}
				aria-keyshortcuts="l"
				onChange={(event) => setTheme(event.currentTarget.value)}
			>
				{THEMES.map((name) => (
					<option key={name} value={name}>
						{name[0].toUpperCase() + name.slice(1)}
					</option>
				))}
			</select>
		</label>
	);
}
