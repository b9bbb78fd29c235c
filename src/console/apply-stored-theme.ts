// Runs before the first paint, so that the other theme never flashes.
const chosen = localStorage.getItem('videogen-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
