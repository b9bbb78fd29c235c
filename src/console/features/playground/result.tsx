import { Link } from 'wouter-preact';
import { failureOf } from '../../api/problem.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TaskResult } from '../tasks/task-result.tsx';
import { useTask, useTaskPaths } from '../tasks/use-task.ts';
import { playgroundText } from './playground-text.ts';

/** Shows the progress and the result of the task that was created here. */
export function Result({ taskId }: { readonly taskId: string }) {
  const { of } = useTaskPaths();
  const { data: view, error, refetch } = useTask(taskId);
  if (view === undefined) {
    return error === null ? (
      <Skeleton height="280px" />
    ) : (
      <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
    );
  }
  return (
    <section class="stack tight" aria-label={playgroundText.result}>
      <TaskResult view={view} onExpired={() => void refetch()} />
      <p>
        <Link href={of(taskId)}>{playgroundText.toTask}</Link>
      </p>
      <details class="quiet">
        <summary>{playgroundText.record}</summary>
        <div class="body">
          <CodeBlock samples={[{ title: 'recordInfo', text: JSON.stringify(view.task, undefined, 2) }]} />
        </div>
      </details>
    </section>
  );
}
