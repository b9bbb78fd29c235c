import { Fingerprint } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import { Redirect, useLocation, useSearch } from 'wouter-preact';
import { searchOf, send } from '../../api/call.ts';
import { signInWithPasskey } from '../../api/passkeys.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useMe, useSignedIn } from '../../api/session.ts';
import { Gate, GateLoading } from '../../shell/gate.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox, type Failure, Notice } from '../../ui/notice.tsx';
import { nextPage } from './next-page.ts';

export function SignInPage() {
  const { data: options, error, refetch } = useRead('/api/console/v1/options', {});
  const { data: me } = useMe();
  const search = useSearch();
  const next = nextPage(search);
  const failed = oidcFailures[new URLSearchParams(search).get('failed') ?? ''];
  if (me !== null && me !== undefined) {
    if (failed === undefined) return <Redirect to={next} replace />;
    return <NotConfirmed sentence={failed} next={next} />;
  }
  if (options === undefined && error !== null) {
    return (
      <Gate title="Sign in">
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      </Gate>
    );
  }
  if (options === undefined) return <GateLoading />;
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
    <Gate title="Sign in" lead="Accounts are by invitation: ask an owner or operator for one.">
      {failed !== undefined && <OidcFailure title="You are not signed in" sentence={failed} />}
      {(options.oidc !== null || options.passkeys) && (
        <div class="stack tight ways">
          {options.oidc !== null && (
            <a class="button wide" href={`/console/oidc/start${searchOf({ next: next === '/' ? undefined : next })}`}>
              Continue with {options.oidc.name}
            </a>
          )}
          {options.passkeys && <PasskeyButton next={next} />}
        </div>
      )}
      {options.passwordSignIn && <PasswordForm next={next} />}
    </Gate>
  );
}

const oidcFailures: Readonly<Record<string, string>> = {
  oidc_unavailable: 'Your identity provider did not answer. Try again in a while, or sign in another way.',
  oidc_expired: 'The visit to your identity provider took too long. Begin again.',
  oidc_failed: 'Your identity provider did not confirm who you are. Begin again.',
  oidc_not_invited: 'You are not invited yet. Ask an owner or operator for an invitation, then come back.',
};

function OidcFailure({ title, sentence }: { readonly title: string; readonly sentence: string }) {
  return (
    <div class="stack">
      <Notice tone="bad" title={title} isAlert>
        <p>{sentence}</p>
      </Notice>
    </div>
  );
}

/** For somebody who is signed in, and was at the identity provider to prove again who they are. */
function NotConfirmed({ sentence, next }: { readonly sentence: string; readonly next: string }) {
  return (
    <Gate title="Not confirmed">
      <OidcFailure title="Nothing was changed" sentence={sentence} />
      <LinkButton href={next}>Go back to the page</LinkButton>
    </Gate>
  );
}

function PasskeyButton({ next }: { readonly next: string }) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const signedIn = useSignedIn();
  const [, navigate] = useLocation();
  const submit = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      signedIn(await signInWithPasskey());
      navigate(next, { replace: true });
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button size="wide" busy={isBusy} onClick={() => void submit()}>
        <Fingerprint size={16} aria-hidden="true" /> Use a passkey
      </Button>
      {failure !== undefined && <ErrorBox failure={failure} />}
    </>
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
        <small>Password forgotten? An operator can make a link to set a new one.</small>
      </p>
    </form>
  );
}
