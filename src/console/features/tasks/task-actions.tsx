import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';

/** Before the content of an ended task is deleted. Loaded when it is asked for, which is seldom. */
export function DeleteDialog({ taskId, onClose }: { readonly taskId: string; readonly onClose: () => void }) {
  const remove = useSend('/api/v1/jobs/deleteTask', {
    onDone: () => {
      onClose();
      toast('The content of this task is deleted');
    },
  });
  return (
    <ConfirmDialog
      title="Delete the content of this task?"
      action="Delete the content"
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ taskId })}
    >
      {remove.error !== null && <ErrorBox failure={failureOf(remove.error)} />}
      <p>
        <strong>Deleted:</strong> the prompt, the images, the video and its poster, and the callback with its attempts.
        Links to the video stop working. This cannot be undone.
      </p>
      <p>
        <strong>Kept:</strong> the id, model, length, times, state and price of the task, and its ledger entries.
        Nothing is charged or refunded.
      </p>
    </ConfirmDialog>
  );
}
