import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { shortId } from '../../ui/copy.tsx';
import { useTaskPaths } from './use-task.ts';

type TaskLinkProps = { readonly taskId: string; readonly children?: ComponentChildren };

/** To the page of a task in the area of the reader. */
export function TaskLink({ taskId, children }: TaskLinkProps) {
  const { of } = useTaskPaths();
  return (
    <Link href={of(taskId)} class="above" title={taskId}>
      {children ?? <code>{shortId(taskId)}</code>}
    </Link>
  );
}
