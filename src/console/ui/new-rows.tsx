import { ArrowUp } from './icons.ts';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

type Props = {
  readonly added: number;
  readonly one: string;
  readonly many: string;
  readonly onShow: () => void;
  readonly children: ComponentChildren;
};

/** Rows, and above them, in no room of its own, the button that brings in what is new: it comes and goes, and no row moves. */
export function NewRows({ added, one, many, onShow, children }: Props) {
  return (
    <div class="renewed">
      <div class="new-rows" role="status">
        {added > 0 && (
          <Button size="small" onClick={onShow}>
            <ArrowUp size={14} aria-hidden="true" /> {added === 1 ? `1 ${one}` : `${added} ${many}`}
          </Button>
        )}
      </div>
      {children}
    </div>
  );
}
