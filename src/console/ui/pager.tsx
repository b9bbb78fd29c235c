import { Button } from './button.tsx';
import { useAddress } from './filters.tsx';
import { ChevronLeft, ChevronRight } from './icons.ts';

import './list.css';

/** Older and newer pages of a list with cursors. The newer page is the one before in the history. */
export function Pager({ nextCursor, what }: { readonly nextCursor: string | null | undefined; readonly what: string }) {
  const { get, push, set } = useAddress();
  const cursor = get('cursor');
  const hasNext = typeof nextCursor === 'string';
  if (cursor === undefined && !hasNext) return null;
  const isFromBefore = history.state === 'older';
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <Button
        size="small"
        disabledReason={cursor === undefined ? 'This is the newest page' : undefined}
        onClick={() => (isFromBefore ? history.back() : set({ cursor: undefined }))}
      >
        <ChevronLeft size={14} /> {isFromBefore || cursor === undefined ? 'Newer' : 'Newest'}
      </Button>
      <Button
        size="small"
        disabledReason={hasNext ? undefined : 'This is the last page'}
        onClick={() => push({ cursor: nextCursor ?? undefined }, 'older')}
      >
        Older <ChevronRight size={14} />
      </Button>
    </nav>
  );
}
