import { CircleAlert, CircleCheck, Info, TriangleAlert } from '../controls/icons.ts';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Failure } from '../../api/api-problem-and-words.ts';
import { CopyButton } from '../controls/copy-button.tsx';
import { Button } from '../controls/button.tsx';
import './notice-and-error-box.css';

const icons = { bad: CircleAlert, warn: TriangleAlert, good: CircleCheck, calm: Info } as const;

type NoticeProps = {
  readonly tone?: keyof typeof icons;
  readonly title?: string;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
  /** Read out when it appears. */
  readonly isAlert?: boolean;
};

export function Notice({ tone = 'calm', title, text, children, isAlert }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <div class={`notice ${tone}`} {...(isAlert === true && { role: 'alert' })}>
      <Icon size={16} aria-hidden="true" />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {text !== undefined && <p>{text}</p>}
        {children}
      </div>
    </div>
  );
}

type ErrorProps = { readonly failure: Failure; readonly onRetry?: () => void };

/** An error with its remedy. Parts of a page that fail alike are reported by the uppermost, whose button retries all. */
export function ErrorBox({ failure, onRetry }: ErrorProps) {
  const { element, isFirst, retryAll } = useSameFailures(failure.title, onRetry);
  return (
    <div ref={element} class="failure">
      {isFirst ? <Failed failure={failure} onRetry={onRetry && retryAll} /> : <p class="soft">Couldn’t be loaded.</p>}
    </div>
  );
}

type FailedProps = { readonly failure: Failure; readonly onRetry: (() => void) | undefined };

function Failed({ failure, onRetry }: FailedProps) {
  return (
    <Notice tone="bad" title={failure.title} isAlert text={failure.sentence}>
      {(onRetry !== undefined || failure.requestId !== undefined) && (
        <div class="row">
          {onRetry !== undefined && (
            <Button size="small" onClick={onRetry}>
              Try again
            </Button>
          )}
          {failure.requestId !== undefined && (
            <span class="id soft">
              <small>
                Request <code>{failure.requestId}</code>
              </small>
              <CopyButton text={failure.requestId} label="Copy the request ID" />
            </span>
          )}
        </div>
      )}
    </Notice>
  );
}

type Shown = {
  title: string;
  retry: (() => void) | undefined;
  readonly element: RefObject<HTMLDivElement>;
  readonly update: () => void;
};
/** Every error that can be retried. */
const shown: Shown[] = [];

function useSameFailures(title: string, retry: (() => void) | undefined) {
  const [, setCount] = useState(0);
  const element = useRef<HTMLDivElement>(null);
  const own = useRef<Shown>();
  own.current ??= { title, retry, element, update: () => setCount((count) => count + 1) };
  const box = own.current;
  box.title = title;
  box.retry = retry;
  const canRetry = retry !== undefined;
  useLayoutEffect(() => {
    if (!canRetry) return undefined;
    shown.push(box);
    for (const { update } of shown) update();
    return () => {
      shown.splice(shown.indexOf(box), 1);
      for (const { update } of shown) update();
    };
  }, [box, canRetry, title]);
  const alike = shown.filter((one) => one.title === title).toSorted(byPosition);
  return {
    element,
    isFirst: !canRetry || alike.length === 0 || alike[0] === box,
    retryAll: () => alike.forEach((one) => one.retry?.()),
  };
}

function byPosition({ element: { current: one } }: Shown, { element: { current: other } }: Shown): number {
  if (one === null || other === null) return 0;
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) === 0 ? -1 : 1;
}
