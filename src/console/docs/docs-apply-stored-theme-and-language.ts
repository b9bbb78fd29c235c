import '../apply-stored-theme.ts';
import { storedLanguage } from './sample-language.ts';

// Runs before the first paint, like the theme, so that no sample changes its language while it is read.
document.documentElement.dataset['language'] = storedLanguage();
