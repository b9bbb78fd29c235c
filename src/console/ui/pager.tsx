import { ChevronLeft, ChevronRight } from './icons.ts';
import { useLocation, useSearch } from 'wouter-preact';
import { Button } from './button.tsx';

/** A parameter of the address: filters, tabs and pages live there, so that they survive a reload and can be shared. */
export function useAddress() {
  const search = new URLSearchParams(useSearch());
  const [path, navigate] = useLocation();
  const hrefWith = (changes: Readonly<Record<string, string | undefined>>) => {
    const next = new URLSearchParams(search);
    // Another filter begins at the first page again.
    if (!('cursor' in changes)) next.delete('cursor');
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    const query = next.toString();
    return query === '' ? path : `${path}?${query}`;
  };
  return {
    get: (name: string): string | undefined => search.get(name) ?? undefined,
    hrefWith,
    set: (changes: Readonly<Record<string, string | undefined>>) => navigate(hrefWith(changes), { replace: true }),
    push: (changes: Readonly<Record<string, string | undefined>>, state: unknown) =>
      navigate(hrefWith(changes), { state }),
  };
}

/** Older and newer pages of a list with cursors. The newer page is the one before in the history. */
export function Pager({ nextCursor, what }: { readonly nextCursor: string | null | undefined; readonly what: string }) {
  const { get, push, set } = useAddress();
  const cursor = get('cursor');
  if (cursor === undefined && (nextCursor === null || nextCursor === undefined)) return null;
  const isFromBefore = history.state === 'older';
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <Button
        size="small"
        disabledReason={cursor === undefined ? 'This is the newest page' : undefined}
        onClick={() => (isFromBefore ? history.back() : set({ cursor: undefined }))}
      >
        <ChevronLeft size={14} /> {isFromBefore || cursor === undefined ? 'Newer' : 'Newest'}
      </Button>
      <Button
        size="small"
        disabledReason={nextCursor === null || nextCursor === undefined ? 'This is the last page' : undefined}
        onClick={() => push({ cursor: nextCursor ?? undefined }, 'older')}
      >
        Older <ChevronRight size={14} />
      </Button>
    </nav>
  );
}
