// Runs before the first paint, so that a reader who chose a theme never sees the other one.
const chosen = localStorage.getItem('videogen-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
