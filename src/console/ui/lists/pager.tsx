import { useRef } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { useUrlParameters } from './filter-bar-and-url-parameters.tsx';
import { ChevronLeft, ChevronRight } from '../controls/icons.ts';

import './list.css';

/** Older and newer pages of a list with cursors. The newer page is the one before in the history. */
export function Pager({ nextCursor, what }: { readonly nextCursor: string | null | undefined; readonly what: string }) {
  const { get, push, set } = useUrlParameters();
  const pager = useRef<HTMLElement>(null);
  const cursor = get('cursor');
  const hasNext = typeof nextCursor === 'string';
  if (cursor === undefined && !hasNext) return null;
  const isFromBefore = history.state === 'older';
  return (
    <nav ref={pager} class="pager" aria-label={`Pages of ${what}`}>
      <Button
        size="small"
        disabledReason={cursor === undefined ? 'This is the newest page' : undefined}
        onClick={() => {
          // The browser restores the position in the page before.
          if (isFromBefore) history.back();
          else {
            set({ cursor: undefined });
            showRows(pager.current);
          }
        }}
      >
        <ChevronLeft size={14} /> {isFromBefore || cursor === undefined ? 'Newer' : 'Newest'}
      </Button>
      <Button
        size="small"
        disabledReason={hasNext ? undefined : 'This is the last page'}
        onClick={() => {
          push({ cursor: nextCursor ?? undefined }, 'older');
          showRows(pager.current);
        }}
      >
        Older <ChevronRight size={14} />
      </Button>
    </nav>
  );
}

/** Another page is read from its first row. Elements without a height, such as a bar that floats, may stand between the rows and the pager. */
function showRows(pager: HTMLElement | null): void {
  let rows = pager?.previousElementSibling;
  while (rows?.clientHeight === 0) rows = rows.previousElementSibling;
  rows?.scrollIntoView();
}
