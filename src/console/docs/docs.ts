import { listenForCopyClicks } from './copy-code.ts';
import { startMenuAndOutline } from './menu-and-outline.ts';
import { startSearch } from './search.ts';
import { startTabs } from './sample-tabs.ts';

// The program of the pages under /docs. They can be read without it.
startTabs();
listenForCopyClicks();
startMenuAndOutline();
startSearch();
