import type { ComponentChildren } from 'preact';
import { Card } from '../page.tsx';
import { Table, type TableProps } from './table.tsx';

type TableCardProps<Row> = Omit<TableProps<Row>, 'caption'> & {
  /** Also the caption of the table, unless it is given another one. */
  readonly title: string;
  readonly caption?: string;
  readonly actions?: ComponentChildren;
};

/** A card that holds a table alone. */
export function TableCard<Row>({ title, caption = title, actions, ...table }: TableCardProps<Row>) {
  return (
    <Card title={title} actions={actions} isFlush>
      <Table caption={caption} {...table} />
    </Card>
  );
}
