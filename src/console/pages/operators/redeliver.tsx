import { RotateCw } from '../../ui/icons.ts';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';

/** Harmless, so nothing is asked first: a receiver knows a repetition by its `webhook-id`. */
export function RedeliverButton({ taskId }: { readonly taskId: string }) {
  const redeliver = useSend('/api/admin/v1/callbacks/redeliver', {
    onDone: () => toast('The callback is sent again now'),
  });
  return (
    <Button
      size="small"
      busy={redeliver.isPending}
      onClick={() => redeliver.mutate({ taskId }, { onError: (error) => toast(failureOf(error).sentence, 'bad') })}
    >
      <RotateCw size={14} aria-hidden="true" /> Send again
    </Button>
  );
}
