type Entry = { readonly href: string; readonly title: string; readonly page: string; readonly words: string };

const maxResults = 12;

/** Searches all pages. The index is loaded when the field is first used. */
export function startSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#search');
  const results = document.getElementById('results');
  const status = document.getElementById('found');
  if (field === null || results === null || status === null) return;
  let index: Promise<readonly Entry[] | undefined> | undefined;
  const load = () => {
    index ??= loadIndex().catch(() => {
      index = undefined;
      return undefined;
    });
    return index;
  };
  const close = () => {
    results.hidden = true;
  };
  const update = async () => {
    const query = field.value;
    const entries = await load();
    // The field may have changed meanwhile.
    if (query !== field.value) return;
    const found = find(entries ?? [], query);
    results.replaceChildren(...shown(found, entries === undefined ? 'The search is unavailable.' : 'No results.'));
    results.hidden = query.trim() === '';
    status.textContent = results.hidden ? '' : `${found.length} results`;
  };
  // A field that regains the focus, as after Escape, opens nothing.
  field.addEventListener('focus', () => void load());
  field.addEventListener('click', () => void update());
  field.addEventListener('input', () => void update());
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter') results.querySelector('a')?.click();
    if (event.key === 'ArrowDown') moveFocus(event, results, field, 1);
  });
  results.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) moveFocus(event, results, field, step);
    if (event.key !== 'Escape') return;
    close();
    field.focus();
  });
  results.addEventListener('click', close);
  document.addEventListener(
    'click',
    ({ target }) => target instanceof Node && !field.parentElement?.contains(target) && close(),
  );
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
}

async function loadIndex(): Promise<readonly Entry[]> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`the search index was answered with ${response.status}`);
  return (await response.json()) as readonly Entry[]; // src/api/docs/search-index.ts makes it
}

/** Entries with all words of the query: first those with a match in their titles, then in the order of the pages. */
function find(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked = entries.flatMap((entry) => {
    const title = entry.title.toLowerCase();
    const isMatch = words.every((word) => title.includes(word) || entry.words.includes(word));
    return isMatch ? [{ entry, rank: words.filter((word) => title.includes(word)).length }] : [];
  });
  return ranked
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, maxResults)
    .map(({ entry }) => entry);
}

function shown(found: readonly Entry[], otherwise: string): readonly Node[] {
  if (found.length === 0) {
    const text = document.createElement('p');
    text.textContent = otherwise;
    return [text];
  }
  return found.map(({ href, title, page }) => {
    const link = document.createElement('a');
    link.href = href;
    const small = document.createElement('small');
    small.textContent = page;
    link.append(title, ' ', small);
    return link;
  });
}

function moveFocus(event: KeyboardEvent, results: HTMLElement, field: HTMLElement, step: number): void {
  const links = [...results.querySelectorAll('a')];
  const at = links.findIndex((link) => link === document.activeElement);
  event.preventDefault();
  (links[at + step] ?? (at + step < 0 ? field : undefined))?.focus();
}
