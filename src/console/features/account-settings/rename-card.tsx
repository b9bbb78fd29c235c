import { useSend } from '../../api/read-and-send-hooks.ts';
import { useAccount, useMe } from '../../api/session.ts';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { accountSettingsText } from './account-settings-text.tsx';
import './account-settings.css';

const text = accountSettingsText.general;

/** The name of the account, which its owners choose, and its id, which stays. */
export function RenameCard() {
  const { accountId, name } = useAccount();
  const { refetch } = useMe();
  const { values, field } = useFields({ name });
  const rename = useSend('/api/console/v1/account/rename', {
    changes: ['/api/console/v1/events'],
    onDone: () => {
      toast(text.saved);
      void refetch();
    },
  });
  return (
    <Card title={text.title}>
      <Form class="stack narrow" submission={rename} onSubmit={() => rename.mutate({ name: values.name.trim() })}>
        <TextField
          label={text.name}
          hint={text.nameHint}
          maxLength={200}
          required
          autocomplete="organization"
          {...field('name')}
        />
        <div class="row">
          <OperatorViewAwareButton type="submit" busy={rename.isPending}>
            {text.save}
          </OperatorViewAwareButton>
        </div>
      </Form>
      <p class="account-id">
        <span class="soft">{text.id}</span> <CopyId id={accountId} label={text.copyId} />
      </p>
    </Card>
  );
}
