import type { ComponentChildren } from 'preact';
import { type ReadResult, ReadErrorBox } from '../feedback/loaded-or-read-error.tsx';
import { Card } from '../page-card-facts-and-tiles.tsx';
import { Table, type TableProps } from './table.tsx';

type TableCardProps<Row> = Omit<TableProps<Row>, 'caption'> & {
  /** Also the caption of the table, unless it is given another one. */
  readonly title: string;
  readonly caption?: string;
  readonly actions?: ComponentChildren;
  /** The read of the rows, whose error stands in place of them. */
  readonly of?: ReadResult<unknown>;
  /** Stands in place of a table without rows. */
  readonly none?: ComponentChildren;
};

/** A card that holds a table alone. */
export function TableCard<Row>({ title, caption = title, actions, of, none, ...table }: TableCardProps<Row>) {
  return (
    <Card title={title} actions={actions} isFlush>
      {of !== undefined && of.data === undefined && of.error !== null ? (
        <ReadErrorBox of={of} isInset />
      ) : none !== undefined && table.rows?.length === 0 ? (
        none
      ) : (
        <Table caption={caption} {...table} />
      )}
    </Card>
  );
}
