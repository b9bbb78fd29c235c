import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../api/problem.ts';
import { useRead } from '../api/queries.ts';
import { useMe, useSignedIn } from '../api/session.ts';
import { onConfirmIdentity } from '../api/sudo.ts';
import { toast } from '../ui/toast.tsx';
import { SudoDialog } from './sudo-dialog.tsx';

type Asking = { readonly done: () => void; readonly refuse: (reason: string) => void };

/** Confirms the person's identity before an action that needs it; the action then continues. */
export function Sudo() {
  const [asking, setAsking] = useState<Asking>();
  const { data: me } = useMe();
  const signedIn = useSignedIn();
  const { data: options, error } = useRead('/api/console/v1/options', {}, { isEnabled: asking !== undefined });
  useEffect(() => {
    onConfirmIdentity(
      () =>
        new Promise<void>((done, reject) =>
          setAsking((before) => {
            before?.refuse('another action asked for confirmation');
            return { done, refuse: (reason) => reject(notConfirmed(reason)) };
          }),
        ),
    );
  }, []);
  if (asking === undefined || (options === undefined && error === null)) return null;
  return (
    <SudoDialog
      email={me?.user.email ?? ''}
      options={options}
      onConfirmed={(now) => {
        setAsking(undefined);
        if (now.user.userId === me?.user.userId) return asking.done();
        // A passkey of another person signed them in; what asked for the action may be gone from their page.
        signedIn(now);
        const reason = `Nothing was changed: ${now.user.email} is signed in now.`;
        asking.refuse(reason);
        toast(reason, 'bad');
      }}
      onClose={() => {
        setAsking(undefined);
        asking.refuse('nothing was changed: your identity was not confirmed');
      }}
    />
  );
}

function notConfirmed(message: string): ApiProblem {
  return new ApiProblem({ status: 403, error: 'not_confirmed', message, data: {}, requestId: undefined });
}
