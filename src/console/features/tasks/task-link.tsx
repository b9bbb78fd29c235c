import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { useAccount } from '../../api/session.ts';
import { opsPaths, paths } from '../../paths.ts';
import { shortId } from '../../ui/copy.tsx';

type TaskLinkProps = { readonly taskId: string; readonly children?: ComponentChildren };

/** To the page of a task in the area of the reader. */
export function TaskLink({ taskId, children }: TaskLinkProps) {
  const { accountId } = useAccount();
  return (
    <Link href={accountId === '' ? opsPaths.task(taskId) : paths.task(accountId, taskId)} class="above" title={taskId}>
      {children ?? <code>{shortId(taskId)}</code>}
    </Link>
  );
}
