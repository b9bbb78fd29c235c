import { startCopying } from './copy-code.ts';
import { startMenu } from './menu.ts';
import { startSearch } from './search.ts';
import { startTabs } from './sample-tabs.ts';

// The program of the pages under /docs. They can be read without it.
startTabs();
startCopying();
startMenu();
startSearch();
