import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';

type Keys<Row> = { readonly rowKey: (row: Row) => string | number };

type SteadyProps<Row> = Keys<Row> & {
  readonly latest: readonly Row[] | undefined;
  /** The page is full: a row that is missing at its end was pushed to the next page. */
  readonly hasMore: boolean;
  readonly isPlaceholderData: boolean;
  readonly dataUpdatedAt: number;
  /** Other filters or another page begin anew; undefined for lists that do not poll. */
  readonly shownFor: string | undefined;
};

/**
 * Rows in sight do not move: they are updated in place, and new ones are only counted until the reader shows them. Rows that new ones
 * pushed off the page stay as they were.
 */
export function useSteadyRows<Row>(props: SteadyProps<Row>) {
  const { latest, hasMore, isPlaceholderData, dataUpdatedAt, rowKey, shownFor } = props;
  const last = useRef<{ readonly for: string; readonly rows: readonly Row[] }>();
  const [, setCount] = useState(0);
  const shown = last.current?.for === shownFor ? (last.current?.rows ?? []) : [];
  const steady = steadyRows({ latest: latest ?? [], shown, hasMore, rowKey });
  if (shownFor !== undefined && latest !== undefined && !isPlaceholderData)
    last.current = { for: shownFor, rows: steady.rows };
  const showAdded = () => {
    last.current = undefined;
    setCount((count) => count + 1);
  };
  useOwnChange(dataUpdatedAt, () => steady.added > 0 && showAdded());
  return { ...steady, rows: latest && steady.rows, showAdded };
}

type Pages<Row> = Keys<Row> & {
  readonly latest: readonly Row[];
  /** The rows in sight; none before the first read. */
  readonly shown: readonly Row[];
  readonly hasMore: boolean;
};

/** The rows to show, and the number of new ones above them; with `isAllAdded` there are at least so many. */
function steadyRows<Row>({ latest, shown, hasMore, rowKey }: Pages<Row>) {
  const keys = shown.map(rowKey);
  const isShown = (row: Row) => keys.includes(rowKey(row));
  const added = latest.findIndex(isShown);
  if (added === -1) {
    // The shown rows may follow below a full page. A page that is not full is the whole list, so they left it.
    const isAllAdded = hasMore && shown.length > 0;
    return { rows: isAllAdded ? shown : latest, added: isAllAdded ? latest.length : 0, isAllAdded };
  }
  const end = latest.at(-1);
  const below = hasMore && end !== undefined && isShown(end) ? shown.slice(keys.indexOf(rowKey(end)) + 1) : [];
  const latestKeys = latest.map(rowKey);
  // A row can come to the top again, such as a callback that failed once more.
  const pushedOff = below.filter((row) => !latestKeys.includes(rowKey(row)));
  return { rows: [...latest.slice(added), ...pushedOff], added, isAllAdded: false };
}

/** Calls back when rows were read after a change by the reader, who expects to see it immediately. */
function useOwnChange(dataUpdatedAt: number, onRead: () => void) {
  const client = useQueryClient();
  const isChanged = useRef(false);
  useEffect(
    () =>
      client.getMutationCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'success') isChanged.current = true;
      }),
    [client],
  );
  useEffect(() => {
    if (isChanged.current) onRead();
    isChanged.current = false;
  }, [dataUpdatedAt]);
}
