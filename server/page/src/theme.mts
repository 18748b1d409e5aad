// Runs before anything is painted, as it is: a script of its own, not a module.
document.documentElement.dataset.theme = localStorage.getItem('theme') ?? 'system';
