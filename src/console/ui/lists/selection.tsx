import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { X } from '../controls/icons.ts';
import type { Column } from './table.tsx';
import './selection.css';

export type SelectionOptions<Row> = {
  readonly canSelect: (row: Row) => boolean;
  /** Names a row to screen readers. */
  readonly label: (row: Row) => string;
  /** The buttons that act on the selected rows. */
  readonly actions: (rows: readonly Row[]) => ComponentChildren;
};

type SelectionProps<Row> = {
  readonly selection: SelectionOptions<Row> | undefined;
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string | number;
};

/**
 * A column of checkboxes, and a bar that floats over the list while rows are selected, so that no row moves. The column appears with the
 * first row that can be selected, and then stays.
 */
export function useSelectionColumnAndBar<Row>({ selection, rows = [], rowKey }: SelectionProps<Row>) {
  const [keys, setKeys] = useState<ReadonlySet<string | number>>(new Set());
  const hasColumn = useRef(false);
  const selectable = selection === undefined ? [] : rows.filter(selection.canSelect);
  hasColumn.current ||= selectable.length > 0;
  if (selection === undefined || !hasColumn.current) return { columns: [], bar: null };
  const selected = selectable.filter((row) => keys.has(rowKey(row)));
  const isAll = selectable.length > 0 && selected.length === selectable.length;
  const column: Column<Row> = {
    title: 'Selection',
    kind: 'select',
    head: (
      <Checkbox
        label="Select all on this page"
        isChecked={isAll}
        isMixed={selected.length > 0 && !isAll}
        isDisabled={selectable.length === 0}
        onChange={() => setKeys(isAll ? new Set() : new Set(selectable.map(rowKey)))}
      />
    ),
    cell: (row) =>
      selection.canSelect(row) && (
        <Checkbox
          label={`Select ${selection.label(row)}`}
          isChecked={keys.has(rowKey(row))}
          onChange={() => setKeys(toggled(keys, rowKey(row)))}
        />
      ),
  };
  const bar = selected.length > 0 && (
    <div class="selection-bar" role="region" aria-label="Selection">
      <span role="status">{selected.length} selected</span>
      {selection.actions(selected)}
      <Button variant="quiet" size="small icon" aria-label="Clear selection" onClick={() => setKeys(new Set())}>
        <X size={16} />
      </Button>
    </div>
  );
  return { columns: [column], bar };
}

function toggled<Key>(keys: ReadonlySet<Key>, key: Key): ReadonlySet<Key> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}

type CheckboxProps = {
  readonly label: string;
  readonly isChecked: boolean;
  /** Some are checked, and others are not. */
  readonly isMixed?: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: () => void;
};

function Checkbox({ label, isChecked, isMixed = false, isDisabled = false, onChange }: CheckboxProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // HTML has no attribute for it.
    if (input.current !== null) input.current.indeterminate = isMixed;
  }, [isMixed]);
  return (
    // The label makes the whole cell a target for fingers.
    <label class="select-box">
      <input
        ref={input}
        type="checkbox"
        aria-label={label}
        checked={isChecked}
        disabled={isDisabled}
        onChange={onChange}
      />
    </label>
  );
}
