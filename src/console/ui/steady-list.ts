import { useEffect, useState } from 'preact/hooks';

/**
 * Rows that a reader looks at do not move: what is new waits behind a button, what is shown is renewed in its place. Another filter
 * or page, which `filter` tells, begins anew, once its own rows have come: until then those of the filter before stay.
 */
export function useSteadyList<Row>(
  { rows: latest, isOfBefore }: { readonly rows: readonly Row[] | undefined; readonly isOfBefore: boolean },
  idOf: (row: Row) => string,
  filter: string,
): { readonly rows: readonly Row[] | undefined; readonly added: number; readonly showAdded: () => void } {
  const [shown, setShown] = useState<{ readonly of: string; readonly ids: readonly string[] }>();
  const ids = (latest ?? []).map(idOf);
  const isKnown = shown?.of === filter && shown.ids.length > 0;
  useEffect(() => {
    if (!isKnown && !isOfBefore && ids.length > 0) setShown({ of: filter, ids });
  }, [isKnown, isOfBefore, filter, ids.length]);
  if (latest === undefined || !isKnown) return { rows: latest, added: 0, showAdded: () => undefined };
  const firstShown = ids.findIndex((id) => shown.ids.includes(id));
  return {
    rows: latest.slice(Math.max(0, firstShown)),
    added: Math.max(0, firstShown),
    showAdded: () => setShown({ of: filter, ids }),
  };
}
