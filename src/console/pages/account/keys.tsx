import { KeyRound, Plus } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import type { ApiKey, UsedApiKey } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { Forbidden } from '../../shell/page-states.tsx';
import { Badge, StateDot, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { number } from '../../ui/money.tsx';
import { isActive } from './active-key.ts';
import { CreateKeyDialog, RotateKeyDialog } from './key-dialogs.tsx';

export function KeysPage() {
  const { name } = useAccount();
  const reason = useRoleReason('owner');
  const [isCreating, setCreating] = useState(false);
  const { data, error, refetch } = useRead('/api/v1/keys', {}, { isEnabled: reason === undefined });
  if (reason !== undefined) return <Forbidden what="Keys are made and seen by owners of this account." />;
  const create = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus size={16} aria-hidden="true" /> New key
    </Button>
  );
  return (
    <Page
      title="API keys"
      lead={`Programs act for ${name} with a key. A key is shown once, when it is made.`}
      actions={data?.keys.length === 0 ? undefined : create}
    >
      {error !== null && data === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.keys.length === 0 ? (
        <Empty icon={KeyRound} title="No keys yet">
          <p>Make one for each program, so that each can be replaced by itself.</p>
          <div class="row">{create}</div>
        </Empty>
      ) : (
        <KeyTable keys={data?.keys} />
      )}
      {isCreating && <CreateKeyDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function KeyTable({ keys }: { readonly keys: readonly UsedApiKey[] | undefined }) {
  // One key alone has nothing to be compared with.
  const most = keys === undefined || keys.length < 2 ? 0 : Math.max(...keys.map(({ uses }) => uses.credits));
  return (
    <Table
      caption="API keys"
      rows={keys}
      rowKey={({ keyId }) => keyId}
      columns={[
        {
          title: 'Name',
          kind: 'head',
          cell: ({ name, hint }) => (
            <span>
              <strong class="entry">{name}</strong>
              <code class="under nowrap">{hint}</code>
            </span>
          ),
        },
        { title: 'State', kind: 'shrink', cell: (key) => <KeyState apiKey={key} /> },
        {
          title: 'Scopes',
          cell: ({ scopes, dialect }) => (
            <span class="badges">
              {scopes.map((scope) => (
                <Badge key={scope}>{scope}</Badge>
              ))}
              {dialect === 'kie' && <Badge tone="live">kie dialect</Badge>}
            </span>
          ),
        },
        {
          title: 'Credits, 30 days',
          kind: 'end',
          cell: ({ uses }) => <KeyUse uses={uses} most={most} />,
        },
        {
          title: 'Last used',
          kind: 'end',
          cell: ({ lastUseTime }) => (lastUseTime === null ? 'never' : <Time ms={lastUseTime} />),
        },
        { title: 'Made', kind: 'end', isMinor: true, cell: ({ createTime }) => <Time ms={createTime} /> },
        { title: 'Actions', kind: 'actions', cell: (key) => <KeyActions apiKey={key} /> },
      ]}
    />
  );
}

/** What a key cost, also as a bar beside those of the other keys. */
function KeyUse({ uses, most }: { readonly uses: UsedApiKey['uses']; readonly most: number }) {
  return (
    <span>
      {number(uses.credits)}
      {most > 0 && (
        <span class="share" aria-hidden="true">
          {uses.credits > 0 && <span style={{ width: `${(100 * uses.credits) / most}%` }} />}
        </span>
      )}
      <small class="under">{uses.tasks === 1 ? '1 task' : `${number(uses.tasks)} tasks`}</small>
    </span>
  );
}

function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  const { revokeTime, expireTime } = apiKey;
  const [tone, word]: readonly [Tone, string] =
    revokeTime !== null ? ['calm', 'Revoked'] : isActive(apiKey) ? ['good', 'Active'] : ['calm', 'Expired'];
  return (
    <span>
      <StateDot tone={tone}>{word}</StateDot>
      {expireTime !== null && isActive(apiKey) && (
        <small class="under">
          expires <Time ms={expireTime} />
        </small>
      )}
    </span>
  );
}

function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const close = () => setAsked(undefined);
  const revoke = useSend('/api/v1/keys/revoke', {
    onDone: () => {
      close();
      toast(`${apiKey.name} is revoked`);
    },
  });
  // A key that was rotated without an overlap is over at once; the dialog with its successor's secret stays.
  if (!isActive(apiKey) && asked === undefined) return null;
  return (
    <span class="row end">
      <Button size="small" onClick={() => setAsked('rotate')} aria-label={`Rotate ${apiKey.name}`}>
        Rotate
      </Button>
      <Button size="small" look="danger" onClick={() => setAsked('revoke')} aria-label={`Revoke ${apiKey.name}`}>
        Revoke
      </Button>
      {asked === 'rotate' && <RotateKeyDialog apiKey={apiKey} onClose={close} />}
      {asked === 'revoke' && (
        <ConfirmDialog
          title={`Revoke ${apiKey.name}?`}
          action="Revoke the key"
          isBusy={revoke.isPending}
          onClose={close}
          onConfirm={() => revoke.mutate({ keyId: apiKey.keyId })}
        >
          {revoke.error !== null && <ErrorBox failure={failureOf(revoke.error)} />}
          <p>
            Programs that use <code>{apiKey.hint}</code> are refused from now on. This cannot be undone. To replace it
            without a gap, rotate it instead.
          </p>
        </ConfirmDialog>
      )}
    </span>
  );
}
