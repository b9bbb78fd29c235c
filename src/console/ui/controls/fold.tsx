import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type FoldProps = {
  readonly title: string;
  /** Something inside has a value. */
  readonly isGiven: boolean;
  /** The refusal of something inside. */
  readonly problem: Error | null | false;
  readonly children: ComponentChildren;
};

/** Fields that are seldom filled in. */
export function Fold({ title, isGiven, problem, children }: FoldProps) {
  const details = useRef<HTMLDetailsElement>(null);
  // Only opened: who empties a field to type another value still needs it.
  useLayoutEffect(() => {
    if (details.current !== null && (isGiven || problem)) details.current.open = true;
  }, [isGiven, problem]);
  return (
    <details ref={details}>
      <summary>{title}</summary>
      <div class="body stack">{children}</div>
    </details>
  );
}
