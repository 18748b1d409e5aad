import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { readSession, signIn, signOut, type Session } from './api.mts';
import { arrivedLink, whenLinkArrives } from './arrivingLink.mts';
import { Deletions } from './deleting.tsx';
import { keepAll } from './deletions.mts';
import { isDay } from './format.mts';
import icon from './icon.svg';
import { KeysHelp, useEntryKeys, useKeys } from './keys.tsx';
import { Icon } from './icons.tsx';
import { Buttons, Dialog, Load, Menu, NotFound } from './parts.tsx';
import { forgetSearches } from './recentSearches.mts';
import { whenSessionEnds } from './request.mts';
import { useAttempt } from './useAttempt.mts';
import { useArrival } from './useArrival.mts';
import { forgetDrafts } from './drafts.mts';
import { forgetLoaded, useLoad } from './useLoad.mts';
import { Add } from './views/add.tsx';
import { Calendar } from './views/calendar.tsx';
import { ChatView, Chats } from './views/chats.tsx';
import { Connect } from './views/connect.tsx';
import { DayView } from './views/day.tsx';
import { LifelogView } from './views/lifelog.tsx';
import { NoRecordings } from './views/noRecordings.tsx';
import { PeopleView } from './views/people.tsx';
import { PersonView } from './views/person.tsx';
import { Recordings } from './views/recordings.tsx';
import { Search } from './views/search.tsx';
import { SignIn } from './views/signIn.tsx';
import { StatusView } from './views/status.tsx';
import { WordsList } from './views/words.tsx';

/** Views in the header, each with its keyboard shortcut. */
const VIEWS = [
	{ path: '/', name: 'Calendar', key: 'c' },
	{ path: '/search', name: 'Search', key: '/' },
	{ path: '/people', name: 'People', key: 'g' },
	{ path: '/chats', name: 'Chats', key: 'h' },
	{ path: '/recordings', name: 'Recordings', key: 'r' },
	{ path: '/status', name: 'Status', key: 's' },
];
const viewsOf = ({ hasRecordings, hasChats }: Session) =>
	VIEWS.filter(
		({ path }) => (hasRecordings || path !== '/recordings') && (hasChats || path !== '/chats'),
	);

/** Signs in with the link in the address, and reads the session. */
async function arrive(): Promise<{ session: Session | null; linkProblem: string }> {
	const link = arrivedLink();
	const linkProblem =
		link === undefined
			? ''
			: await signIn({ link }).then(
					() => '',
					(error: unknown) => (error as Error).message,
				);
	return { session: await readSession(), linkProblem };
}

/** The page: after signing in, the view of its address. */
export function App() {
	const session = useLoad('session', arrive);
	const [hasEnded, setEnded] = useState(false);
	useEffect(
		() =>
			whenSessionEnds(() => {
				keepAll();
				forgetLoaded();
				setEnded(true);
			}),
		[],
	);
	useKeys();
	useEntryKeys();
	useArrival();
	const onSignedIn = () => {
		setEnded(false);
		session.reload();
	};
	useEffect(() => whenLinkArrives(onSignedIn), []);
	const onSignedOut = () => {
		forgetDrafts();
		keepAll();
		forgetLoaded();
		forgetSearches();
		session.reload();
	};
	return (
		<Load of={session}>
			{({ session: options, linkProblem }) =>
				options === null || hasEnded ? (
					<SignIn hasEnded={hasEnded} linkProblem={linkProblem} onSignedIn={onSignedIn} />
				) : (
					<>
						<a class="skip" href="#main">
							Skip to content
						</a>
						<Header views={viewsOf(options)} onSignedOut={onSignedOut} />
						<main id="main" tabIndex={-1}>
							<Deletions />
							<Switch>
								<Route path="/">
									<Calendar session={options} onFilled={session.reload} />
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
								<Route path="/people">
									<PeopleView session={options} />
								</Route>
								<Route path="/person">
									<PersonView session={options} />
								</Route>
								<Route path="/words">
									<WordsList session={options} />
								</Route>
								<Route path="/chats">
									<Chats session={options} />
								</Route>
								<Route path="/chats/:id">
									{({ id }) => <ChatView key={id} id={id!} session={options} />}
								</Route>
								<Route path="/recordings">
									{options.hasRecordings ? <Recordings session={options} /> : <NoRecordings />}
								</Route>
								<Route path="/connect">
									<Connect session={options} />
								</Route>
								{options.canFill && (
									<Route path="/add">
										<Add session={options} />
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

/** The view in the header that another one belongs to. */
function parentOf(path: string): string {
	if (/^\/(days|lifelogs)\//.test(path)) return '/';
	if (path === '/person' || path === '/words') return '/people';
	return path.startsWith('/chats/') ? '/chats' : path;
}

function Header({ views, onSignedOut }: { views: typeof VIEWS; onSignedOut: () => void }) {
	const [path] = useLocation();
	const [open, setOpen] = useState<'keys' | 'sign out'>();
	const close = () => setOpen(undefined);
	return (
		<header>
			<Link class="product" href="/">
				<img src={icon} alt="" width={24} height={24} /> Lifelogs
			</Link>
			<nav aria-label="Main">
				{views.map(({ path: to, name, key }) => (
					<Link
						key={to}
						href={to}
						aria-current={path === to ? 'page' : parentOf(path) === to ? 'true' : undefined}
						aria-keyshortcuts={key}
						title={`${name} (${key})`}
					>
						{name}
					</Link>
				))}
			</nav>
			<Menu
				class="more"
				shortcut="o"
				name={
					<>
						<Icon name="menu" />
						<span class="hidden">Menu</span>
					</>
				}
			>
				<li>
					<ThemeSwitch />
				</li>
				<li>
					<Link href="/connect" aria-keyshortcuts="p">
						Connect
					</Link>
				</li>
				<li>
					<button type="button" class="plain" aria-keyshortcuts="?" onClick={() => setOpen('keys')}>
						Keyboard shortcuts
					</button>
				</li>
				<li>
					<button
						type="button"
						class="plain"
						aria-keyshortcuts="q"
						onClick={() => setOpen('sign out')}
					>
						Sign out
					</button>
				</li>
			</Menu>
			{open === 'keys' && <KeysHelp onClose={close} />}
			{open === 'sign out' && <SignOut onSignedOut={onSignedOut} onClose={close} />}
		</header>
	);
}

function SignOut({ onSignedOut, onClose }: { onSignedOut: () => void; onClose: () => void }) {
	const [problem, attempt] = useAttempt();
	return (
		<Dialog title="Sign out" onClose={onClose}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					attempt(signOut().then(onSignedOut));
				}}
			>
				<p>To sign in again, you need a link or an API key.</p>
				<Buttons problem={problem} name="Sign out" onCancel={onClose} />
			</form>
		</Dialog>
	);
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function ThemeSwitch() {
	const [theme, setTheme] = useState<Theme>(
		() => THEMES.find((name) => name === localStorage.getItem('theme')) ?? 'system',
	);
	useLayoutEffect(() => {
		document.documentElement.dataset.theme = theme;
		localStorage.setItem('theme', theme);
	}, [theme]);
	return (
		<button
			type="button"
			class="plain theme"
			aria-keyshortcuts="l"
			onClick={(event) => {
				// The menu stays open, so that users can cycle through the themes.
				event.stopPropagation();
				setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
			}}
		>
			<Icon name={theme} /> Theme: {theme[0].toUpperCase() + theme.slice(1)}
		</button>
	);
}
