import type { SendAnswer } from '../../../api/call.ts';
import { useIsOperatorPage } from '../../../api/session.ts';
import { ActionDialog } from '../../../ui/forms/action-dialog.tsx';
import { InfoDialog } from '../../../ui/forms/dialog.tsx';
import { auditReasonHint } from '../../audit/audit-reason-hint.ts';
import { tasksText, wordAndToneOfTask } from '../tasks-text.ts';
import type { ListedTaskRow } from '../detail/use-task.ts';

type Path = '/api/v1/jobs/cancelTasks' | '/api/admin/v1/tasks/cancel-many';

type CancelProps = { readonly tasks: readonly ListedTaskRow[]; readonly onClose: () => void };

/** Cancels tasks that were unfinished when they were selected. The result lists those that had ended since then. */
export function CancelTasksDialog({ tasks, onClose }: CancelProps) {
  const isOperator = useIsOperatorPage();
  const path: Path = isOperator ? '/api/admin/v1/tasks/cancel-many' : '/api/v1/jobs/cancelTasks';
  const taskIds = tasks.map(({ taskId }) => taskId);
  const credits = tasks.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0);
  return (
    <ActionDialog
      path={path}
      title={tasksText.cancelManyTitle(tasks.length)}
      action={tasksText.cancelMany(tasks.length)}
      dismiss={tasksText.keepMany}
      isDanger
      {...(isOperator && { reason: auditReasonHint })}
      body={(reason) => (isOperator ? { taskIds, reason } : { taskIds })}
      result={(answer) => <CancelResult answer={answer} onClose={onClose} />}
      effect={isOperator ? tasksText.cancelManyEffectForOperators(credits) : tasksText.cancelManyEffect(credits)}
      onClose={onClose}
    />
  );
}

type ResultProps = { readonly answer: SendAnswer<Path>; readonly onClose: () => void };

function CancelResult({ answer: { tasks, notFound }, onClose }: ResultProps) {
  const cancelled = tasks.filter((task) => task.cancelled);
  const refunded = cancelled.reduce((sum, { creditsRefunded }) => sum + creditsRefunded, 0);
  // Each way to end, with the number of tasks that had ended so.
  const others = new Map<string, number>();
  for (const task of tasks.filter((one) => !one.cancelled)) {
    const { word } = wordAndToneOfTask(task);
    others.set(word, (others.get(word) ?? 0) + 1);
  }
  return (
    <InfoDialog title={tasksText.cancelledMany(cancelled.length)} onClose={onClose}>
      {cancelled.length > 0 && <p>{tasksText.refundedMany(refunded)}</p>}
      {(others.size > 0 || notFound > 0) && (
        <>
          <p>{tasksText.notCancelled(tasks.length - cancelled.length + notFound)}</p>
          <ul class="ended-before">
            {[...others].map(([word, count]) => (
              <li key={word}>{tasksText.endedBefore(count, word)}</li>
            ))}
            {notFound > 0 && <li>{tasksText.notFoundMany(notFound)}</li>}
          </ul>
        </>
      )}
    </InfoDialog>
  );
}
