import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Passkey } from '../../api/contract.ts';
import { createPasskeyOnDevice } from '../../api/browser-passkeys.ts';
import { send } from '../../api/call.ts';
import { useSudoAction, useRead } from '../../api/read-and-send-hooks.ts';
import { ActionButton } from '../../ui/forms/action-dialog.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog, DialogButton } from '../../ui/forms/dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Fingerprint, Plus } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { deviceNameOf } from './device-name.ts';
import { securityText } from './security-text.ts';

const text = securityText.passkeys;
const path = '/api/console/v1/passkeys';

/** Signing in without a password, by the lock of a device. */
export function Passkeys() {
  const { data, refetch } = useRead(path, {});
  const add = (
    <DialogButton label={text.add} icon={Plus} size="small">
      {(close) => (
        <AddPasskey
          onClose={close}
          onAdded={() => {
            close();
            void refetch();
          }}
        />
      )}
    </DialogButton>
  );
  // An open dialog ends with its button, so it waits until the list is read: an empty list shows a button of its own.
  const hasAny = data !== undefined && data.passkeys.length > 0;
  return (
    <Card title={text.title} actions={hasAny ? add : undefined} isFlush>
      <List
        noun={text.nouns}
        caption={text.caption}
        path={path}
        query={{}}
        rows={({ passkeys }) => passkeys}
        rowKey={({ passkeyId }) => passkeyId}
        expected={1}
        empty={{ icon: Fingerprint, title: text.none, children: <NoPasskeys add={add} /> }}
        columns={[
          { title: text.columns.name, kind: 'head', cell: ({ name }) => <strong class="strong">{name}</strong> },
          { title: text.columns.added, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
          {
            title: text.columns.used,
            kind: 'end',
            cell: ({ lastUseTime }) => (lastUseTime === null ? text.never : <Time ms={lastUseTime} />),
          },
          { ...actionColumnProps, cell: (passkey) => <RemovePasskey passkey={passkey} /> },
        ]}
      />
    </Card>
  );
}

function NoPasskeys({ add }: { readonly add: ComponentChildren }) {
  return (
    <>
      <p>{text.why}</p>
      <div class="row">{add}</div>
    </>
  );
}

type AddProps = { readonly onClose: () => void; readonly onAdded: () => void };

/** Not an `ActionDialog`, because the device answers between two calls. */
function AddPasskey({ onClose, onAdded }: AddProps) {
  const [name, setName] = useState(deviceNameOf(navigator.userAgent));
  const add = useSudoAction(
    async () => {
      const response = await createPasskeyOnDevice();
      return send('/api/console/v1/passkeys/register', { name: name.trim(), response }, { account: undefined });
    },
    {
      onDone: () => {
        onAdded();
        toast(text.added);
      },
    },
  );
  return (
    <Dialog title={text.addTitle} onClose={onClose}>
      <Form class="" submission={add} onSubmit={() => add.mutate()}>
        <div class="body">
          <p>{text.lead}</p>
          <TextField label={text.name} name="name" hint={text.nameHint} required value={name} onValue={setName} />
        </div>
        <footer>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button variant="primary" type="submit" busy={add.isPending}>
            {text.continue}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

function RemovePasskey({ passkey: { passkeyId, name } }: { readonly passkey: Passkey }) {
  return (
    <ActionButton
      button={{ label: text.remove, size: 'small', variant: 'danger', 'aria-label': text.removeNamed(name) }}
      path="/api/console/v1/passkeys/remove"
      title={text.removeTitle(name)}
      action={text.removeAction}
      isDanger
      body={() => ({ passkeyId })}
      changes={[path]}
      done={text.removed}
      effect={text.removeLead}
    />
  );
}
