import { Fingerprint, Plus } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import type { Passkey } from '../../api/contract.ts';
import { newPasskey } from '../../api/passkeys.ts';
import { type ApiProblem, failureOf, problemOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { withSudo } from '../../api/sudo.ts';
import { deviceOf } from './device.ts';

/** Signing in without a password, by the lock of a device. */
export function Passkeys() {
  const { data, error, refetch } = useRead('/api/console/v1/passkeys', {});
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button size="small" onClick={() => setAdding(true)}>
      <Plus size={14} aria-hidden="true" /> Add a passkey
    </Button>
  );
  return (
    <Card title="Passkeys" actions={data?.passkeys.length === 0 ? undefined : add} isFlush>
      {error !== null && data === undefined ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : data?.passkeys.length === 0 ? (
        <Empty icon={Fingerprint} title="No passkeys yet">
          <p>
            Sign in with the lock of your device. Nothing can be guessed, typed into a wrong page, or stolen from us.
          </p>
          <div class="row">{add}</div>
        </Empty>
      ) : (
        <Table
          caption="Your passkeys"
          rows={data?.passkeys}
          rowKey={({ passkeyId }) => passkeyId}
          expected={1}
          columns={[
            { title: 'Name', kind: 'head', cell: ({ name }) => <strong class="entry">{name}</strong> },
            { title: 'Added', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
            {
              title: 'Last used',
              kind: 'end',
              cell: ({ lastUseTime }) => (lastUseTime === null ? 'never' : <Time ms={lastUseTime} />),
            },
            { title: 'Actions', kind: 'actions', cell: (passkey) => <RemovePasskey passkey={passkey} /> },
          ]}
        />
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </Card>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState(deviceOf(navigator.userAgent));
  const [problem, setProblem] = useState<ApiProblem>();
  const [isBusy, setBusy] = useState(false);
  const register = useSend('/api/console/v1/passkeys/register', {
    changes: ['/api/console/v1/passkeys'],
    onDone: () => {
      onClose();
      toast('The passkey is added');
    },
  });
  const add = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const response = await withSudo(newPasskey);
      await register.mutateAsync({ name: name.trim(), response });
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      onSubmit={() => void add()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={isBusy}>
            Go on
          </Button>
        </>
      }
    >
      {problem !== undefined && <ErrorBox failure={failureOf(problem)} />}
      <p>Your device then asks for its own lock, such as a fingerprint.</p>
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        fault={problem?.faults['name']}
        hint="To tell it from others."
      />
    </Dialog>
  );
}

function RemovePasskey({ passkey }: { readonly passkey: Passkey }) {
  const [isAsked, setAsked] = useState(false);
  const remove = useSend('/api/console/v1/passkeys/remove', {
    changes: ['/api/console/v1/passkeys'],
    onDone: () => {
      setAsked(false);
      toast('The passkey is removed');
    },
  });
  return (
    <>
      <Button size="small" look="danger" aria-label={`Remove ${passkey.name}`} onClick={() => setAsked(true)}>
        Remove
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`Remove ${passkey.name}?`}
          action="Remove the passkey"
          isBusy={remove.isPending}
          onClose={() => setAsked(false)}
          onConfirm={() => remove.mutate({ passkeyId: passkey.passkeyId })}
        >
          {remove.error !== null && <ErrorBox failure={failureOf(remove.error)} />}
          <p>You cannot sign in with it any more. Remove it on your device, too.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
