import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Answer, Query, ReadPath } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Button } from '../controls/button.tsx';
import { Empty, type EmptyProps } from '../feedback/empty.tsx';
import { type Filter, FilterBar, useUrlParameters, useFilters } from './filter-bar-and-url-parameters.tsx';
import { ArrowUp, SearchX } from '../controls/icons.ts';
import { ReadErrorBox } from '../feedback/loaded-or-read-error.tsx';
import { Page } from '../page-card-facts-and-tiles.tsx';
import { Pager } from './pager.tsx';
import { type SelectionOptions, useSelectionColumnAndBar } from './selection.tsx';
import { useSteadyRows } from './steady-rows.ts';
import { type Column, Table } from './table.tsx';
import './list.css';

export type ListProps<Path extends ReadPath, Row> = {
  /** The rows are called this, as in "2 new tasks" and "Tasks". */
  readonly noun: readonly [one: string, many: string];
  readonly path: Path;
  /** The query besides filters and page. */
  readonly query: Query<Path>;
  readonly rows: (answer: Answer<Path>) => readonly Row[];
  readonly rowKey: (row: Row) => string | number;
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly Filter<Query<Path>>[];
  readonly empty: EmptyProps;
  /** Reads again at this pace; new rows wait behind a button then, and no row moves. */
  readonly everyMs?: number | ((answer: Answer<Path> | undefined) => number | false);
  readonly isLinked?: boolean;
  readonly expected?: number;
  readonly selection?: SelectionOptions<Row> | undefined;
  /** The caption of the table; by default the noun. */
  readonly caption?: string;
};

const noFilters: readonly never[] = [];

/** Rows of a GET with their filters, pages, and what stands there when there is none or they cannot be read. */
export function List<Path extends ReadPath, Row>(props: ListProps<Path, Row>) {
  const { noun, path, rows: rowsOf, rowKey, columns, filters = noFilters, everyMs, isLinked } = props;
  const state = useFilters<Query<Path>>(filters);
  const cursor = useUrlParameters().get('cursor');
  const query = { ...props.query, ...state.query, ...(cursor !== undefined && { cursor }) };
  const read = useRead(path, query, { keeps: true, ...(everyMs !== undefined && { everyMs }) });
  const { data, error, isPlaceholderData, dataUpdatedAt } = read;
  const latest = data === undefined ? undefined : rowsOf(data);
  const shownFor = everyMs === undefined ? undefined : JSON.stringify([state.values, cursor]);
  const nextCursor = nextCursorOf(data);
  const hasMore = typeof nextCursor === 'string';
  const { rows, added, isAllAdded, showAdded } = useSteadyRows({
    latest,
    hasMore,
    isPlaceholderData,
    dataUpdatedAt,
    rowKey,
    shownFor,
  });
  const selected = useSelectionColumnAndBar({ selection: props.selection, rows, rowKey });
  const list = useRef<HTMLDivElement>(null);
  return (
    <>
      {filters.length > 0 && <FilterBar state={state} />}
      {error !== null && data === undefined ? (
        <ReadErrorBox of={read} />
      ) : rows?.length === 0 ? (
        state.isFiltered ? (
          <NoMatch many={noun[1]} onClear={state.clear} />
        ) : (
          <Empty {...props.empty} />
        )
      ) : (
        <div ref={list} class="list" tabIndex={-1}>
          <div class="new-rows" role="status">
            {added > 0 && (
              <Button
                size="small"
                onClick={() => {
                  showAdded();
                  // The button that has the focus disappears.
                  list.current?.focus({ preventScroll: true });
                }}
              >
                <ArrowUp size={14} aria-hidden="true" /> {added}
                {isAllAdded && '+'} new {added === 1 ? noun[0] : noun[1]}
              </Button>
            )}
          </div>
          <Table
            caption={props.caption ?? capitalized(noun[1])}
            rows={rows}
            rowKey={rowKey}
            columns={[...selected.columns, ...columns]}
            {...(isLinked !== undefined && { isLinked })}
            {...(props.expected !== undefined && { expected: props.expected })}
          />
          {selected.bar}
        </div>
      )}
      {(nextCursor !== undefined || (data === undefined && cursor !== undefined)) && (
        <Pager nextCursor={nextCursor} what={noun[1]} />
      )}
    </>
  );
}

type PageProps = { readonly lead?: ComponentChildren; readonly actions?: ComponentChildren };

/** A page that is one list. */
export function ListPage<Path extends ReadPath, Row>(
  props: ListProps<Path, Row> & PageProps & { readonly children?: ComponentChildren },
) {
  const { lead, actions, children } = props;
  return (
    <Page lead={lead} actions={actions}>
      <List {...props} />
      {children}
    </Page>
  );
}

function NoMatch({ many, onClear }: { readonly many: string; readonly onClear: () => void }) {
  return (
    <Empty icon={SearchX} title={`No ${many} match these filters`}>
      <div class="row">
        <Button onClick={onClear}>Clear filters</Button>
      </div>
    </Empty>
  );
}

/** Null on the last page; undefined for an answer without pages, beside which another list of the page may have some. */
function nextCursorOf(answer: unknown): string | null | undefined {
  if (typeof answer !== 'object' || answer === null || !('nextCursor' in answer)) return undefined;
  return typeof answer.nextCursor === 'string' ? answer.nextCursor : null;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
