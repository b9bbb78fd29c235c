import { Link } from 'wouter-preact';
import { failureOf } from '../../api/problem.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TaskFilm } from './task-film.tsx';
import { TaskReceipt } from './task-receipt.tsx';
import { useTask } from './use-task.ts';

/** What becomes of a task that was made in the playground. Loaded after the form, which comes first. */
export function TaskResult({ taskId }: { readonly taskId: string }) {
  const { accountId } = useAccount();
  const { data: timeline, error, refetch } = useTask(taskId);
  if (timeline === undefined) {
    return error === null ? (
      <Skeleton height="280px" />
    ) : (
      <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
    );
  }
  return (
    <section class="stack tight" aria-label="Result">
      {timeline.task.state === 'fail' ? (
        <TaskReceipt timeline={timeline} />
      ) : (
        <TaskFilm timeline={timeline} onExpired={() => void refetch()} />
      )}
      <p>
        <Link href={paths.task(accountId, taskId)}>Timeline, ledger and details of this task</Link>
      </p>
      <details class="quiet">
        <summary>The record, as programs read it</summary>
        <div class="body">
          <CodeBlock samples={[{ title: 'recordInfo', text: JSON.stringify(timeline.task, undefined, 2) }]} />
        </div>
      </details>
    </section>
  );
}
