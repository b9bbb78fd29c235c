import { useState } from 'preact/hooks';
import { useAccount, useIsOperatorPage, useNotAllowedReason } from '../../../api/session.ts';
import { accountPaths } from '../../../paths.ts';
import { ActionButton, ActionDialog } from '../../../ui/forms/action-dialog.tsx';
import { Button, LinkButton } from '../../../ui/controls/button.tsx';
import { Ban, Download, ExternalLink, RefreshCw, Trash2 } from '../../../ui/controls/icons.ts';
import { formatCredits } from '../../../ui/number-formats.tsx';
import { formatDuration, Time } from '../../../ui/times-and-durations.tsx';
import { auditReasonHint } from '../../audit/audit-reason-hint.ts';
import { tasksText } from '../tasks-text.ts';
import './task.css';
import { isLive, type TaskView } from './use-task.ts';

/** Below the video: what it cost, how long it took, and what can be done with it. */
export function TaskCostAndActions({ view }: { readonly view: TaskView }) {
  const { state, costTime, createTime, creditsCharged } = view.task;
  const hasFailed = state === 'fail';
  return (
    <div class="task-bar">
      <p>
        {/* The receipt of a failure shows what was charged and refunded. */}
        {!hasFailed && <strong>{formatCredits(creditsCharged)}</strong>}
        <span class="soft">
          {costTime === null ? (
            <>
              {tasksText.columns.created} <Time ms={createTime} />
            </>
          ) : (
            (hasFailed ? tasksText.endedAfter : tasksText.generatedIn)(formatDuration(costTime))
          )}
        </span>
      </p>
      <div class="row">
        <TaskActions view={view} />
      </div>
    </div>
  );
}

function TaskActions({ view }: { readonly view: TaskView }) {
  const { accountId } = useAccount();
  const { task, operator, contentDeleteTime } = view;
  const { resultUrls, lastFrameUrl } = task.resultJson;
  const isOwn = operator === undefined && contentDeleteTime === null;
  return (
    <>
      <DownloadLink url={resultUrls[0]} label={tasksText.download} />
      <DownloadLink url={lastFrameUrl} label={tasksText.lastFrame} />
      <CancelTaskButton view={view} />
      {isOwn && (
        <LinkButton href={accountPaths.playgroundFrom(accountId, task.taskId)}>
          <RefreshCw size={16} aria-hidden="true" /> {tasksText.runAgain}
        </LinkButton>
      )}
      {typeof operator?.temporalUrl === 'string' && (
        <a class="button" href={operator.temporalUrl} target="_blank" rel="noopener">
          <ExternalLink size={16} aria-hidden="true" /> {tasksText.temporal}
        </a>
      )}
      {isOwn && !isLive(task) && <DeleteButton taskId={task.taskId} />}
    </>
  );
}

/** The server names the file, and sends it as an attachment: browsers ignore `download` after a redirect to a bucket. */
export function DownloadLink({ url, label }: { readonly url: string | undefined; readonly label: string }) {
  if (url === undefined) return null;
  return (
    <a class="button" href={`${url}&download=1`} download>
      <Download size={16} aria-hidden="true" /> {label}
    </a>
  );
}

/** The dialog stays when the task ends while it is open. */
export function CancelTaskButton({ view: { task } }: { readonly view: TaskView }) {
  const isOperator = useIsOperatorPage();
  const memberReason = useNotAllowedReason('member');
  const [isOpen, setOpen] = useState(false);
  const { taskId, creditsCharged } = task;
  return (
    <>
      {isLive(task) && (
        <Button variant="danger" disabledReason={isOperator ? undefined : memberReason} onClick={() => setOpen(true)}>
          <Ban size={16} aria-hidden="true" /> {tasksText.cancel}
        </Button>
      )}
      {isOpen && (
        <ActionDialog
          path={isOperator ? '/api/admin/v1/tasks/cancel' : '/api/v1/jobs/cancelTask'}
          title={tasksText.cancelTitle}
          action={tasksText.cancelAction}
          dismiss={tasksText.keep}
          isDanger
          {...(isOperator && { reason: auditReasonHint })}
          body={(reason) => (isOperator ? { taskId, reason } : { taskId })}
          done={({ cancelled, creditsRefunded }) =>
            cancelled ? tasksText.cancelled(creditsRefunded) : tasksText.hadEnded
          }
          effect={
            isOperator ? tasksText.cancelEffectForOperators(creditsCharged) : tasksText.cancelEffect(creditsCharged)
          }
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** Only owners may, since it can't be undone. */
function DeleteButton({ taskId }: { readonly taskId: string }) {
  return (
    <ActionButton
      button={{
        label: tasksText.remove,
        icon: Trash2,
        variant: 'danger',
        disabledReason: useNotAllowedReason('owner'),
      }}
      path="/api/v1/jobs/deleteTask"
      title={tasksText.removeTitle}
      action={tasksText.remove}
      isDanger
      body={() => ({ taskId })}
      done={tasksText.removed}
    >
      <p>
        <strong>{tasksText.removeDeletesTitle}</strong> {tasksText.removeDeletes}
      </p>
      <p>
        <strong>{tasksText.removeKeepsTitle}</strong> {tasksText.removeKeeps}
      </p>
    </ActionButton>
  );
}
