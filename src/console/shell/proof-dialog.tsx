import { useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { type Answer, searchOf, send } from '../api/call.ts';
import type { Me } from '../api/contract.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { failureOf } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

type ProofProps = {
  readonly email: string;
  /** Undefined when they could not be read: a password is asked for then. */
  readonly options: Answer<'/api/console/v1/options'> | undefined;
  readonly onProven: (now: Me) => void;
  readonly onClose: () => void;
};

/** Asks a person who is signed in to prove again who they are. */
export function ProofDialog({ email, options, onProven, onClose }: ProofProps) {
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
