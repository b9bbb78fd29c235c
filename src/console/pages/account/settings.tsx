import { useState } from 'preact/hooks';
import { minPasswordLength } from '../../../people/user.ts';
import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useMe } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { AccountClosing } from './account-close.tsx';
import { AccountData } from './account-data.tsx';
import { deviceOf } from './device.ts';
import { Passkeys } from './passkeys.tsx';

/** Of the person, the same wherever they are; and for owners the data and the end of the account. */
export function SettingsPage() {
  const { data: me } = useMe();
  const options = useRead('/api/console/v1/options', {});
  const sessions = useRead('/api/console/v1/sessions', {});
  // Each part comes when the length of what stands above it is known: nothing is seen to move.
  const isKnown = options.data !== undefined || options.error !== null;
  return (
    <Page title="Settings" lead={`You are signed in as ${me?.user.email ?? ''}.`}>
      {options.data?.passwordSignIn !== false && <PasswordCard />}
      {options.data?.passkeys === true && <Passkeys />}
      {isKnown && <Sessions />}
      {isKnown && (sessions.data !== undefined || sessions.error !== null) && (
        <>
          <AccountData />
          <AccountClosing />
        </>
      )}
    </Page>
  );
}

function PasswordCard() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { data: me } = useMe();
  const change = useSend('/api/console/v1/password', {
    changes: ['/api/console/v1/sessions'],
    onDone: () => {
      setCurrent('');
      setNew('');
      toast('Your password is changed');
    },
  });
  const faults = change.error?.faults ?? {};
  return (
    <Card title="Password">
      <form
        class="stack narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!change.isPending) change.mutate({ currentPassword, newPassword });
        }}
      >
        {change.error !== null && Object.keys(faults).length === 0 && <ErrorBox failure={failureOf(change.error)} />}
        <input type="email" name="email" autocomplete="username" value={me?.user.email ?? ''} hidden readOnly />
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
          fault={faults['currentPassword']}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          value={newPassword}
          onValue={setNew}
          fault={faults['newPassword']}
          hint={`At least ${minPasswordLength} characters of any kind. Your other sessions end.`}
        />
        <div class="row">
          <Button type="submit" busy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}

type Session = Answer<'/api/console/v1/sessions'>['sessions'][number];

function Sessions() {
  const { data, error, refetch } = useRead('/api/console/v1/sessions', {});
  const end = useSend('/api/console/v1/sessions/end', { onDone: () => toast('The session is ended') });
  const endOthers = useSend('/api/console/v1/sessions/end-others', {
    onDone: () => toast('All other sessions are ended'),
  });
  const failed = (cause: unknown) => toast(failureOf(cause).sentence, 'bad');
  const others = data?.sessions.filter(({ isCurrent }) => !isCurrent).length ?? 0;
  const actions = (
    <Button size="small" busy={endOthers.isPending} onClick={() => endOthers.mutate({}, { onError: failed })}>
      End all others
    </Button>
  );
  const endColumn: Column<Session> = {
    title: 'Actions',
    kind: 'actions',
    cell: ({ sessionId, isCurrent, userAgent }) =>
      !isCurrent && (
        <Button
          size="small"
          aria-label={`End the session of ${deviceOf(userAgent)}`}
          onClick={() => end.mutate({ sessionId }, { onError: failed })}
        >
          End
        </Button>
      ),
  };
  return (
    <Card title="Sessions" actions={others === 0 ? undefined : actions} isFlush>
      {error !== null && data === undefined ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : (
        <Table
          caption="Where you are signed in"
          rows={data?.sessions}
          rowKey={({ sessionId }) => sessionId}
          expected={2}
          columns={[
            {
              title: 'Browser',
              kind: 'head',
              cell: ({ userAgent, isCurrent }) => (
                <span class="row">
                  <strong class="entry">{deviceOf(userAgent) || 'Unknown'}</strong>
                  {isCurrent && <Badge tone="good">this one</Badge>}
                </span>
              ),
            },
            { title: 'Address', cell: ({ address }) => address ?? '–' },
            { title: 'Signed in', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
            { title: 'Last used', kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
            { title: 'Ends', kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
            ...(others === 0 ? [] : [endColumn]),
          ]}
        />
      )}
    </Card>
  );
}
