import { useEffect, useState } from 'preact/hooks';
import { send } from '../api/call.ts';
import { onConfirmPerson } from '../api/confirm-person.ts';
import { ApiProblem, failureOf } from '../api/problem.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { useRead } from '../api/queries.ts';
import { useMe } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

type Asking = { readonly done: () => void; readonly closed: () => void };

/** Asks for the password before an act that needs it; the act then goes on by itself. */
export function ConfirmPerson() {
  const [asking, setAsking] = useState<Asking>();
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { data: me } = useMe();
  const { data: options } = useRead('/api/console/v1/options', {}, { isEnabled: asking !== undefined });
  useEffect(() => {
    onConfirmPerson(
      () =>
        new Promise<void>((resolve, reject) => {
          const message = 'nothing was changed: the password was not confirmed';
          const refused = new ApiProblem({
            status: 403,
            error: 'not_confirmed',
            message,
            data: {},
            requestId: undefined,
          });
          setAsking({ done: resolve, closed: () => reject(refused) });
        }),
    );
  }, []);
  if (asking === undefined) return null;
  const end = (how: () => void) => {
    setAsking(undefined);
    setPassword('');
    setFault(undefined);
    how();
  };
  const confirm = async (prove: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await prove();
      end(asking.done);
    } catch (error) {
      setFault(failureOf(error).sentence);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Confirm that it is you"
      onClose={() => end(asking.closed)}
      onSubmit={() => void confirm(() => send('/api/console/v1/reauthenticate', { password }, { account: undefined }))}
      footer={
        <>
          {options?.passkeys === true && (
            <Button
              disabledReason={isBusy ? 'Wait for the answer' : undefined}
              onClick={() => void confirm(signInWithPasskey)}
            >
              Use a passkey
            </Button>
          )}
          <Button look="primary" type="submit" busy={isBusy}>
            Confirm
          </Button>
        </>
      }
    >
      <p class="soft">This changes who can use the account or its credits, so your password is needed once more.</p>
      <input type="email" name="email" autocomplete="username" value={me?.user.email ?? ''} hidden readOnly />
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
        fault={fault}
      />
    </Dialog>
  );
}
