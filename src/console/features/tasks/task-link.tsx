import { Link } from 'wouter-preact';
import { shortId } from '../../ui/controls/short-id.ts';
import { useTaskPagePaths } from './detail/use-task-page-paths.ts';

/** To the page of a task in the area of the reader. */
export function TaskLink({ taskId }: { readonly taskId: string }) {
  const { of } = useTaskPagePaths();
  return (
    <Link href={of(taskId)} class="above" title={taskId}>
      <code>{shortId(taskId)}</code>
    </Link>
  );
}
