import { useRef, useState } from 'preact/hooks';

/** Videos of the page that are selected. A click with Shift selects all from the last click to here. */
export function useVideoSelection(ids: readonly string[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>();
  // A video that left the page is no longer selected.
  const selected = ids.filter((id) => chosen.has(id));
  return {
    selected,
    isSelected: (id: string) => chosen.has(id),
    toggle: (id: string, isRange: boolean) => {
      const isAdded = !chosen.has(id);
      const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)].toSorted((a, b) => a - b);
      const range = isRange && from !== undefined && to !== undefined && from >= 0 ? ids.slice(from, to + 1) : [id];
      last.current = id;
      const others = selected.filter((one) => !range.includes(one));
      setChosen(new Set(isAdded ? [...others, ...range] : others));
    },
    selectAll: () => setChosen(new Set(ids)),
    clear: () => setChosen(new Set()),
  };
}

export type VideoSelection = ReturnType<typeof useVideoSelection>;
