import { storedLanguage, storeLanguage } from './sample-language.ts';

/** One choice for all samples of all pages. */
export function startTabs(): void {
  show(storedLanguage());
  document.addEventListener('click', ({ target }) => {
    const tab = target instanceof Element ? target.closest<HTMLElement>('[data-choose]') : null;
    if (tab !== null) choose(tab);
  });
  document.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tab = event.target instanceof HTMLElement && event.target.matches('[data-choose]') ? event.target : undefined;
    if (step === undefined || tab === undefined) return;
    event.preventDefault();
    const tabs = [...(tab.parentElement?.querySelectorAll<HTMLElement>('[data-choose]') ?? [])];
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    choose(next);
    next.focus();
  });
}

/** Samples above the tab may change their height, and the tab must not move under the pointer. */
function choose(tab: HTMLElement): void {
  const language = tab.dataset['choose'] ?? 'sh';
  const before = tab.getBoundingClientRect().top;
  storeLanguage(language);
  show(language);
  scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
}

function show(language: string): void {
  document.documentElement.dataset['language'] = language;
  for (const tab of document.querySelectorAll<HTMLElement>('[data-choose]')) {
    const isChosen = tab.dataset['choose'] === language;
    tab.setAttribute('aria-selected', String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
}
