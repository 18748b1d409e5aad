import { render } from 'preact';
import { App } from './app.tsx';
import './styles.css';

// Before anything is shown, so that nothing blinks.
document.documentElement.dataset.theme = localStorage.getItem('theme') ?? 'system';
render(<App />, document.body);
