import { ActionDialog } from '../../ui/action-dialog.tsx';
import { shortId } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { auditHint } from '../audit/audit-text.ts';
import { waitingText } from './waiting-text.ts';

export function RetryProvider({ provider }: { readonly provider: string }) {
  return (
    <DialogButton label={waitingText.retry} aria-label={waitingText.retryOf(provider)} size="small">
      {(close) => (
        <ActionDialog
          path="/api/admin/v1/providers/retry"
          title={waitingText.retryProvider(provider)}
          action={waitingText.retry}
          reason={auditHint}
          body={(reason) => ({ provider, reason })}
          done={({ tasks }) => waitingText.retriedProvider(tasks)}
          onClose={close}
        >
          <p class="soft">{waitingText.retryProviderHelp}</p>
        </ActionDialog>
      )}
    </DialogButton>
  );
}

export function RetryTask({ taskId }: { readonly taskId: string }) {
  return (
    <DialogButton label={waitingText.retry} aria-label={waitingText.retryOf(`task ${shortId(taskId)}`)} size="small">
      {(close) => (
        <ActionDialog
          path="/api/admin/v1/tasks/retry"
          title={waitingText.retryTask}
          action={waitingText.retry}
          reason={auditHint}
          body={(reason) => ({ taskId, reason })}
          done={({ isRetried }) => waitingText.retriedTask(isRetried)}
          onClose={close}
        >
          <p class="soft">{waitingText.retryTaskHelp}</p>
        </ActionDialog>
      )}
    </DialogButton>
  );
}
