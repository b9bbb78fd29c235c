import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../api/api-problem-and-words.ts';
import { useRead } from '../api/read-and-send-hooks.ts';
import { useMe, useReplaceSession } from '../api/session.ts';
import { setIdentityDialog } from '../api/sudo.ts';
import { toast } from '../ui/feedback/toast.tsx';
import { shellText } from './shell-text.ts';
import { SudoDialog } from './sudo-dialog.tsx';

type Pending = { readonly done: () => void; readonly refuse: (reason: string) => void };

/** Confirms the person's identity before an action that needs it; the action then continues. */
export function SudoPrompt() {
  const [pending, setPending] = useState<Pending>();
  const { data: me } = useMe();
  const signedIn = useReplaceSession();
  const { data: options, error } = useRead('/api/console/v1/options', {}, { isEnabled: pending !== undefined });
  useEffect(() => {
    setIdentityDialog(
      () =>
        new Promise<void>((done, reject) =>
          setPending((before) => {
            before?.refuse(shellText.sudo.superseded);
            return { done, refuse: (reason) => reject(notConfirmed(reason)) };
          }),
        ),
    );
  }, []);
  if (pending === undefined || (options === undefined && error === null)) return null;
  return (
    <SudoDialog
      email={me?.user.email ?? ''}
      options={options}
      onConfirmed={(now) => {
        setPending(undefined);
        if (now.user.userId === me?.user.userId) return pending.done();
        // A passkey of another person was used, which signs that person in; their page may not offer the action.
        signedIn(now);
        const reason = shellText.sudo.otherPerson(now.user.email);
        pending.refuse(reason);
        toast(reason, 'bad');
      }}
      onClose={() => {
        setPending(undefined);
        pending.refuse(shellText.sudo.cancelled);
      }}
    />
  );
}

function notConfirmed(message: string): ApiProblem {
  return new ApiProblem({ status: 403, error: 'not_confirmed', message, data: {}, requestId: undefined });
}
