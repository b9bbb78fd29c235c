import { KeyRound } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import type { Account, ApiKey } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { isActive } from '../account/active-key.ts';
import { NewKeyButton } from './new-key.tsx';

/** Its keys, of which operators can make and revoke some, for accounts without a member. */
export function AccountKeys({ account }: { readonly account: Account }) {
  const { accountId } = account;
  const [revoked, setRevoked] = useState<ApiKey>();
  const { data, error, refetch } = useRead('/api/admin/v1/keys', { accountId });
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  return (
    <div class="stack">
      {account.closeTime === null && (
        <div class="row apart">
          <p class="soft">Owners make their own keys. One made here is for you to hand over.</p>
          <NewKeyButton account={account} />
        </div>
      )}
      {data?.keys.length === 0 ? (
        <Empty icon={KeyRound} title="No keys yet">
          <p>The account has no program that could create tasks.</p>
        </Empty>
      ) : (
        <Table
          caption="API keys"
          rows={data?.keys}
          rowKey={({ keyId }) => keyId}
          columns={[
            { title: 'Name', kind: 'head', cell: ({ name }) => <bdi>{name}</bdi> },
            { title: 'Key', cell: ({ hint }) => <code>{hint}</code> },
            { title: 'State', cell: (key) => <KeyState apiKey={key} /> },
            { title: 'Dialect', cell: ({ dialect }) => dialect },
            {
              title: 'Last used',
              kind: 'end',
              cell: ({ lastUseTime }) => (lastUseTime === null ? 'never' : <Time ms={lastUseTime} />),
            },
            {
              title: 'Actions',
              kind: 'actions',
              cell: (key) =>
                isActive(key) && (
                  <Button size="small" look="danger" onClick={() => setRevoked(key)}>
                    Revoke<span class="visually-hidden"> {key.name}</span>
                  </Button>
                ),
            },
          ]}
        />
      )}
      {revoked !== undefined && <RevokeDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </div>
  );
}

function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.revokeTime !== null) return <StateDot tone="bad">Revoked</StateDot>;
  if (!isActive(apiKey)) return <StateDot tone="calm">Expired</StateDot>;
  return <StateDot tone="good">Active</StateDot>;
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { keyId, name, hint } = apiKey;
  const revoke = useSend('/api/admin/v1/keys/revoke', {
    onDone: () => {
      onClose();
      toast(`The key ${name} is revoked`);
    },
  });
  return (
    <ConfirmDialog
      title="Revoke this key?"
      action="Revoke the key"
      isBusy={revoke.isPending}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ keyId })}
    >
      {revoke.error !== null && <ErrorBox failure={failureOf(revoke.error)} />}
      <p>
        <bdi>{name}</bdi> (<code>{hint}</code>) works no more from the next request on. This cannot be taken back.
      </p>
    </ConfirmDialog>
  );
}
