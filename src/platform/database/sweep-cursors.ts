import { maybeOne, noRows } from './declare-statements.ts';

// The positions of loops over many rows whose run ended early.

export const readCursor = maybeOne<{ readonly row: unknown }, [name: string]>({
  name: 'read-cursor',
  text: 'select after_row as row from sweep_cursors where name = $1',
});

export const saveCursor = noRows<[name: string, row: string]>({
  name: 'save-cursor',
  text: `
insert into sweep_cursors (name, after_row) values ($1, $2) on conflict (name) do update set after_row = excluded.after_row`,
});

export const deleteCursor = noRows<[name: string]>({
  name: 'delete-cursor',
  text: 'delete from sweep_cursors where name = $1',
});
