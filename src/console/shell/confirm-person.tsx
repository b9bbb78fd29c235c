import { useEffect, useState } from 'preact/hooks';
import { onConfirmPerson } from '../api/confirm-person.ts';
import { ApiProblem } from '../api/problem.ts';
import { useRead } from '../api/queries.ts';
import { useMe, useSignedIn } from '../api/session.ts';
import { lazy } from '../ui/lazy.tsx';
import { toast } from '../ui/toast.tsx';

const ProofDialog = lazy(
  async () => (await import('./proof-dialog.tsx')).ProofDialog,
  () => null,
);

type Asking = { readonly done: () => void; readonly refuse: (why: string) => void };

/** Asks who sits here before an act that needs it; the act then goes on by itself, but not after a visit to the identity provider. */
export function ConfirmPerson() {
  const [asking, setAsking] = useState<Asking>();
  const { data: me } = useMe();
  const signedIn = useSignedIn();
  const { data: options, error } = useRead('/api/console/v1/options', {}, { isEnabled: asking !== undefined });
  useEffect(() => {
    onConfirmPerson(async () => {
      // What does not load refuses the act.
      await ProofDialog.load();
      await new Promise<void>((done, reject) => setAsking(askingOf(done, reject)));
    });
  }, []);
  if (asking === undefined || (options === undefined && error === null)) return null;
  return (
    <ProofDialog
      email={me?.user.email ?? ''}
      options={options}
      onProven={(now) => {
        setAsking(undefined);
        if (now.user.userId === me?.user.userId) return asking.done();
        // The passkey was another person's, and so is the page now; what asked for the act may be gone from it.
        signedIn(now);
        const why = `Nothing was changed: ${now.user.email} is signed in now.`;
        asking.refuse(why);
        toast(why, 'bad');
      }}
      onClose={() => {
        setAsking(undefined);
        asking.refuse('nothing was changed: it was not confirmed that it is you');
      }}
    />
  );
}

function askingOf(done: () => void, reject: (refused: ApiProblem) => void): Asking {
  const why = { status: 403, error: 'not_confirmed', data: {}, requestId: undefined };
  return { done, refuse: (message) => reject(new ApiProblem({ ...why, message })) };
}
