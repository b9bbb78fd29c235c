import { useState } from 'preact/hooks';
import { Redirect, useLocation, useSearch } from 'wouter-preact';
import { send } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useMe, useSignedIn } from '../../api/session.ts';
import { Gate, GateLoading } from '../../shell/gate.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox, type Failure, Notice } from '../../ui/notice.tsx';
import { nextPage } from './next-page.ts';

export function SignInPage() {
  const { data: options, error, refetch } = useRead('/api/console/v1/options', {});
  const { data: me } = useMe();
  const next = nextPage(useSearch());
  if (me !== null && me !== undefined) return <Redirect to={next} replace />;
  if (options === undefined && error !== null) {
    return (
      <Gate title="Sign in">
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      </Gate>
    );
  }
  if (options === undefined) return <GateLoading failed={false} />;
  if (options.needsSetUp) {
    return (
      <Gate title="Set up this service" lead="It has no operator yet.">
        <div class="stack">
          <Notice title="Open the set-up link">
            <p>
              The service printed it in its terminal when it started. It holds for 30 minutes; a restart prints a new
              one.
            </p>
          </Notice>
          {options.passwordSignIn && (
            <details class="quiet">
              <summary>I can sign in already</summary>
              <PasswordForm next={next} />
            </details>
          )}
        </div>
      </Gate>
    );
  }
  return (
    <Gate title="Sign in" lead="Your account was made by an invitation; ask an owner or operator for one.">
      {options.oidc !== null && (
        <div class="stack">
          <a class="button wide" href="/api/console/v1/oidc/start">
            Continue with {options.oidc.name}
          </a>
        </div>
      )}
      {options.passwordSignIn && <PasswordForm next={next} />}
    </Gate>
  );
}

function PasswordForm({ next }: { readonly next: string }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const signedIn = useSignedIn();
  const [, navigate] = useLocation();
  const submit = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      signedIn(await send('/api/console/v1/sign-in', { email: email.trim(), password }, { account: undefined }));
      navigate(next, { replace: true });
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      {failure !== undefined && <ErrorBox failure={failure} />}
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autocomplete="username"
        value={email}
        onValue={setEmail}
        required
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
        required
      />
      <Button look="primary" size="wide" type="submit" busy={isBusy}>
        Sign in
      </Button>
      <p class="faint">
        <small>Password forgotten? An owner of your account or an operator can make a link to set a new one.</small>
      </p>
    </form>
  );
}
