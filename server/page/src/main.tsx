import { render } from 'preact';
import { App } from './app.tsx';
// Later rules override earlier ones.
import './styles/base.css';
import './styles/days.css';
import './styles/lifelog.css';
import './styles/lists.css';
import './styles/people.css';
import './styles/words.css';

/** After an upgrade, the server no longer has the scripts of an open page. Reload it once. */
addEventListener('vite:preloadError', (event) => {
	const before = Number(sessionStorage.getItem('reloaded'));
	if (Date.now() - before < 60_000) return;
	event.preventDefault();
	sessionStorage.setItem('reloaded', String(Date.now()));
	location.reload();
});

render(<App />, document.body);
