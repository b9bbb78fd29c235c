import { useAccount } from '../../api/session.ts';
import { Forbidden } from '../../shell/page-states.tsx';
import { ActionButton } from '../../ui/forms/action-dialog.tsx';
import { DownloadButton } from '../../ui/controls/download-button.tsx';
import { Card, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { accountSettingsText as text, ClosingEffects } from './account-settings-text.tsx';
import { RenameCard } from './rename-card.tsx';

/** For owners: the data of the account, and its end. */
export function AccountSettingsPage() {
  const { accountId, name, role } = useAccount();
  if (role !== 'owner') return <Forbidden what={text.ownersOnly} />;
  return (
    <Page lead={text.lead(name)}>
      <RenameCard />
      <ExportCard />
      <ClosingCard accountId={accountId} name={name} />
    </Page>
  );
}

function ExportCard() {
  return (
    <Card title={text.data.title}>
      <div class="stack">
        <p>{text.data.lead}</p>
        <div class="row">
          <DownloadButton address="/api/console/v1/account/export" name="account.jsonl" label={text.data.action} />
        </div>
      </div>
    </Card>
  );
}

function ClosingCard({ accountId, name }: { readonly accountId: string; readonly name: string }) {
  const { title, lead, action, dialog } = text.closing;
  return (
    <Card title={title}>
      <div class="stack">
        <p>{lead}</p>
        <div class="row">
          <ActionButton
            button={{ label: action, variant: 'danger' }}
            path="/api/console/v1/account/close"
            title={dialog(name)}
            action={action}
            isDanger
            confirmText={name}
            body={() => ({ accountId })}
            // Nothing of the account can be read any more, so the console starts again.
            changes={[]}
            onDone={() => location.assign('/console')}
          >
            <ClosingEffects />
          </ActionButton>
        </div>
      </div>
    </Card>
  );
}
