import { CircleAlert, CircleCheck, Info, TriangleAlert } from './icons.ts';
import type { ComponentChildren } from 'preact';
import type { Failure } from '../api/problem.ts';
import { CopyButton } from './copy.tsx';
import { Button } from './button.tsx';
import './notice.css';

const icons = { bad: CircleAlert, warn: TriangleAlert, good: CircleCheck, calm: Info } as const;

type NoticeProps = {
  readonly tone?: keyof typeof icons;
  readonly title?: string;
  readonly children?: ComponentChildren;
  /** Read out when it appears. */
  readonly isAlert?: boolean;
};

export function Notice({ tone = 'calm', title, children, isAlert }: NoticeProps) {
  const Icon = icons[tone];
  return (
    <div class={`notice ${tone}`} {...(isAlert === true && { role: 'alert' })}>
      <Icon size={16} aria-hidden="true" />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}

/** An error with its remedy. */
export function ErrorBox({ failure, onRetry }: { readonly failure: Failure; readonly onRetry?: () => void }) {
  return (
    <Notice tone="bad" title={failure.title} isAlert>
      <p>{failure.sentence}</p>
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
