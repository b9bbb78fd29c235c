import { useRead, useSend } from '../../api/read-and-send-hooks.ts';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { lowBalanceText as text } from './credits-text.ts';

/** The balance below which the console warns everyone in the account. Owners choose it. */
export function LowBalanceCard() {
  const status = useRead('/api/v1/status', {});
  return (
    <Card title={text.title}>
      <Loaded of={status} heights={[120]}>
        {({ lowBalance }) => <ThresholdForm lowBalance={lowBalance} />}
      </Loaded>
    </Card>
  );
}

function ThresholdForm({ lowBalance }: { readonly lowBalance: number | null }) {
  const { values, field } = useFields({ lowBalance: String(lowBalance ?? '') });
  const save = useSend('/api/v1/credits/low-balance', {
    changes: ['/api/v1/status'],
    onDone: (saved) => toast(saved.lowBalance === null ? text.removed : text.saved),
  });
  const submit = () => save.mutate({ lowBalance: values.lowBalance === '' ? null : Number(values.lowBalance) });
  return (
    <Form class="stack narrow" submission={save} onSubmit={submit}>
      <TextField label={text.threshold} hint={text.hint} type="number" min={1} step={1} {...field('lowBalance')} />
      <div class="row">
        <OperatorViewAwareButton type="submit" busy={save.isPending}>
          {text.save}
        </OperatorViewAwareButton>
      </div>
    </Form>
  );
}
