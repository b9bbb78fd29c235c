import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { type Answer, searchOf, send } from '../api/call.ts';
import { onConfirmPerson } from '../api/confirm-person.ts';
import type { Me } from '../api/contract.ts';
import { ApiProblem, failureOf } from '../api/problem.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { useRead } from '../api/queries.ts';
import { useMe, useSignedIn } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { toast } from '../ui/toast.tsx';

type Asking = { readonly done: () => void; readonly refuse: (why: string) => void };

/** Asks who sits here before an act that needs it; the act then goes on by itself, but not after a visit to the identity provider. */
export function ConfirmPerson() {
  const [asking, setAsking] = useState<Asking>();
  const { data: me } = useMe();
  const signedIn = useSignedIn();
  const { data: options, error } = useRead('/api/console/v1/options', {}, { isEnabled: asking !== undefined });
  useEffect(() => onConfirmPerson(() => new Promise((done, reject) => setAsking(askingOf(done, reject)))), []);
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

type ProofProps = {
  readonly email: string;
  /** Undefined when they could not be read: a password is asked for then. */
  readonly options: Answer<'/api/console/v1/options'> | undefined;
  readonly onProven: (now: Me) => void;
  readonly onClose: () => void;
};

function ProofDialog({ email, options, onProven, onClose }: ProofProps) {
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const prove = async (ask: () => Promise<Me>) => {
    setBusy(true);
    try {
      onProven(await ask());
    } catch (error) {
      setFault(failureOf(error).sentence);
    } finally {
      setBusy(false);
    }
  };
  const byPassword = () => prove(() => send('/api/console/v1/reauthenticate', { password }, { account: undefined }));
  const takesPassword = options?.passwordSignIn !== false;
  const provider = options?.oidc?.name;
  const footer = (
    <>
      {options?.passkeys === true && (
        <Button
          disabledReason={isBusy ? 'Wait for the answer' : undefined}
          onClick={() => void prove(signInWithPasskey)}
        >
          Use a passkey
        </Button>
      )}
      {provider !== undefined && <VisitLink provider={provider} />}
      {takesPassword && (
        <Button look="primary" type="submit" busy={isBusy}>
          Confirm
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      title="Confirm that it is you"
      onClose={onClose}
      footer={footer}
      {...(takesPassword && { onSubmit: () => void byPassword() })}
    >
      <p class="soft">
        This changes who can use the account, its credits or its content, so prove once more who you are.
      </p>
      {provider !== undefined && (
        <p class="soft">
          To confirm with {provider} you leave this page, which is opened again afterwards. Then begin once more.
        </p>
      )}
      {takesPassword && <PasswordField email={email} password={password} onPassword={setPassword} fault={fault} />}
      {!takesPassword && fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </Dialog>
  );
}

/** A link, because the browser leaves the page. */
function VisitLink({ provider }: { readonly provider: string }) {
  const [path] = useLocation();
  const search = useSearch();
  const next = search === '' ? path : `${path}?${search}`;
  return (
    <a class="button" href={`/console/oidc/start${searchOf({ proof: '1', next })}`}>
      Confirm with {provider}
    </a>
  );
}

type PasswordProps = {
  readonly email: string;
  readonly password: string;
  readonly onPassword: (password: string) => void;
  readonly fault: string | undefined;
};

function PasswordField({ email, password, onPassword, fault }: PasswordProps) {
  return (
    <>
      <input type="email" name="email" autocomplete="username" value={email} hidden readOnly />
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        value={password}
        onValue={onPassword}
        fault={fault}
      />
    </>
  );
}
