import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { waitingText } from './waiting-text.ts';

type ProviderProps = { readonly provider: string; readonly onClose: () => void };

export function RetryProviderDialog({ provider, onClose }: ProviderProps) {
  return (
    <ActionDialog
      path="/api/admin/v1/providers/retry"
      title={waitingText.retryProvider(provider)}
      action={waitingText.retry}
      reason={auditReasonHint}
      body={(reason) => ({ provider, reason })}
      done={({ tasks }) => waitingText.retriedProvider(tasks)}
      help={waitingText.retryProviderHelp}
      onClose={onClose}
    />
  );
}

type TaskProps = { readonly taskId: string; readonly onClose: () => void };

export function RetryTaskDialog({ taskId, onClose }: TaskProps) {
  return (
    <ActionDialog
      path="/api/admin/v1/tasks/retry"
      title={waitingText.retryTask}
      action={waitingText.retry}
      reason={auditReasonHint}
      body={(reason) => ({ taskId, reason })}
      done={({ isRetried }) => waitingText.retriedTask(isRetried)}
      help={waitingText.retryTaskHelp}
      onClose={onClose}
    />
  );
}
