import { download } from '../../api/download.ts';
import { failureOf } from '../../api/problem.ts';
import { useAction } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { Forbidden } from '../../shell/page-states.tsx';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { Download } from '../../ui/icons.ts';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { accountSettingsText as text, ClosingEffects } from './account-settings-text.tsx';
import { RenameCard } from './rename-card.tsx';

/** For owners: the data of the account, and its end. */
export function AccountSettingsPage() {
  const { accountId, name, role } = useAccount();
  if (role !== 'owner') return <Forbidden what={text.ownersOnly} />;
  return (
    <Page lead={text.lead(name)}>
      <RenameCard />
      <ExportCard accountId={accountId} />
      <ClosingCard accountId={accountId} name={name} />
    </Page>
  );
}

type AccountProps = { readonly accountId: string };

function ExportCard({ accountId }: AccountProps) {
  const save = useAction(() => download('/api/console/v1/account/export', accountId, 'account.jsonl'), {
    onDone: () => toast(text.data.done),
  });
  return (
    <Card title={text.data.title}>
      <div class="stack">
        <p>{text.data.lead}</p>
        {save.error !== null && <ErrorBox failure={failureOf(save.error)} />}
        <div class="row">
          <Button busy={save.isPending} onClick={() => save.mutate()}>
            <Download size={16} aria-hidden="true" /> {text.data.action}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function ClosingCard({ accountId, name }: AccountProps & { readonly name: string }) {
  const { title, lead, action, dialog } = text.closing;
  return (
    <Card title={title}>
      <div class="stack">
        <p>{lead}</p>
        <div class="row">
          <DialogButton label={action} variant="danger">
            {(close) => (
              <ActionDialog
                path="/api/console/v1/account/close"
                title={dialog(name)}
                action={action}
                isDanger
                confirmText={name}
                body={() => ({ accountId })}
                // Nothing of the account can be read any more, so the console starts again.
                changes={[]}
                onDone={() => location.assign('/console')}
                onClose={close}
              >
                <ClosingEffects />
              </ActionDialog>
            )}
          </DialogButton>
        </div>
      </div>
    </Card>
  );
}
