import type { ComponentChildren } from 'preact';
import { Skeleton } from '../feedback/skeleton.tsx';
import './table.css';

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers end at one edge; actions have no title in sight; the head leads the card on a narrow screen. */
  readonly kind?: 'end' | 'actions' | 'head' | 'shrink' | 'select';
  /** Stands in place of the title. */
  readonly head?: ComponentChildren;
  /** Left out of the card on a narrow screen. */
  readonly isMinor?: boolean;
  /** Has a line of the card for itself, as an address needs it. */
  readonly isWide?: boolean;
};

/** What the columns of actions share; the title is for screen readers. */
export const actionColumnProps = { title: 'Actions', kind: 'actions' } as const;

export type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the rows are loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string | number;
  /** The whole row leads to what its `a.row-link` links to. */
  readonly isLinked?: boolean;
  /** The number of rows of the skeleton. */
  readonly expected?: number;
};

/** A table that becomes cards on a narrow screen. */
export function Table<Row>({ caption, columns, rows, rowKey, isLinked, expected = 5 }: TableProps<Row>) {
  return (
    <div class="table-box">
      <table class="cards" aria-busy={rows === undefined}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, kind, head = title }) => (
              <th key={title} scope="col" class={kind === 'end' || kind === 'select' ? kind : undefined}>
                {kind === 'actions' ? <span class="visually-hidden">{title}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: expected }, (_row, index) => (
                <tr key={index} class="late">
                  {columns.map(({ title, kind }) => (
                    <td key={title} class={kind} data-label={title}>
                      {kind !== 'select' && <Skeleton width={kind === 'end' ? '50%' : '70%'} />}
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr key={rowKey(row)} class={isLinked === true ? 'linked' : undefined}>
                  {columns.map(({ title, kind, isMinor, isWide, cell }) => (
                    <td key={title} class={classOf(kind, isMinor, isWide)} data-label={title}>
                      {cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf(kind: string | undefined, isMinor = false, isWide = false): string | undefined {
  return [kind, isMinor && 'minor', isWide && 'wide'].filter(Boolean).join(' ') || undefined;
}
