// Runs before the first paint, unprocessed: a separate script, not a module.
document.documentElement.dataset.theme = localStorage.getItem('theme') ?? 'system';
