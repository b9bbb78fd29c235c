import { useEffect, useState } from 'preact/hooks';

/**
 * Rows that a reader looks at do not move: what is new waits behind a button, what is shown is renewed in its place. Another filter
 * or page, which `queryKey` tells, begins anew.
 */
export function useSteadyList<Row>(
  latest: readonly Row[] | undefined,
  idOf: (row: Row) => string,
  queryKey: string,
): { readonly rows: readonly Row[] | undefined; readonly added: number; readonly showAdded: () => void } {
  const [shown, setShown] = useState<{ readonly of: string; readonly ids: readonly string[] }>();
  const ids = (latest ?? []).map(idOf);
  const isKnown = shown?.of === queryKey && shown.ids.length > 0;
  useEffect(() => {
    if (!isKnown && ids.length > 0) setShown({ of: queryKey, ids });
  }, [isKnown, queryKey, ids.length]);
  if (latest === undefined || !isKnown) return { rows: latest, added: 0, showAdded: () => undefined };
  const firstShown = ids.findIndex((id) => shown.ids.includes(id));
  return {
    rows: latest.slice(Math.max(0, firstShown)),
    added: Math.max(0, firstShown),
    showAdded: () => setShown({ of: queryKey, ids }),
  };
}
