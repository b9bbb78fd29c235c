import type { ComponentChildren } from 'preact';
import { failureOf } from '../../api/api-problem-and-words.ts';
import { ErrorBox } from './notice-and-error-box.tsx';
import { Skeleton } from './skeleton.tsx';

/** The result of `useRead`, or of several. */
export type ReadResult<Data> = {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
};

type ErrorProps = {
  readonly of: ReadResult<unknown>;
  /** In a card whose content touches its edges. */
  readonly isInset?: boolean | undefined;
};

/** The failure of a read that has nothing older to show. */
export function ReadErrorBox({ of: { data, error, refetch }, isInset }: ErrorProps) {
  if (data !== undefined || error === null) return null;
  const box = <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  return isInset === true ? <div class="body">{box}</div> : box;
}

type LoadedProps<Data> = {
  readonly of: ReadResult<Data>;
  /** The heights of what will stand here, in pixels. */
  readonly heights?: readonly number[];
  /** Stands here in place of them until the data is there. */
  readonly waiting?: ComponentChildren;
  readonly isInset?: boolean;
  readonly children: (data: Data) => ComponentChildren;
};

/** The content of a read; until it is there, the room for it, or why it cannot be shown. */
export function Loaded<Data>({ of, heights = [], waiting, isInset, children }: LoadedProps<Data>) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== null) return <ReadErrorBox of={of} isInset={isInset} />;
  const room = waiting ?? heights.map((height) => <Skeleton key={height} height={`${height}px`} />);
  return isInset === true ? <div class="body">{room}</div> : <>{room}</>;
}
