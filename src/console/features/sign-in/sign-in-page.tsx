import { Redirect, useSearch } from 'wouter-preact';
import { type Answer, queryStringOf } from '../../api/call.ts';
import { signInWithPasskey } from '../../api/browser-passkeys.ts';
import { failureOf } from '../../api/api-problem-and-words.ts';
import { useSudoAction, useRead, useSend } from '../../api/read-and-send-hooks.ts';
import { useMe } from '../../api/session.ts';
import { signInPaths } from '../../paths.ts';
import { SignedOutFrame, SignedOutLoadingOrError } from '../../shell/signed-out-frame.tsx';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Fingerprint } from '../../ui/controls/icons.ts';
import { ErrorBox, Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { pageAfterSignIn, useBeginSessionAndNavigate } from './begin-session-and-page-after-sign-in.ts';
import { signInText as text } from './sign-in-text.ts';

export function SignInPage() {
  const read = useRead('/api/console/v1/options', {});
  const options = read.data;
  const { data: me } = useMe();
  const search = useSearch();
  const next = pageAfterSignIn(search);
  const failed = text.oidcFailures[new URLSearchParams(search).get('failed') ?? ''];
  if (me !== null && me !== undefined) {
    return failed === undefined ? <Redirect to={next} replace /> : <NotConfirmed sentence={failed} next={next} />;
  }
  if (options === undefined) return <SignedOutLoadingOrError of={read} title={text.signIn} />;
  if (options.needsSetUp) return <NeedsSetUp hasPasswords={options.passwordSignIn} next={next} />;
  return <SignIn options={options} failed={failed} next={next} />;
}

type NextProps = { readonly next: string };
type SignInProps = NextProps & {
  readonly options: Answer<'/api/console/v1/options'>;
  readonly failed: string | undefined;
};

function SignIn({ options: { oidc, passkeys, passwordSignIn, signUp }, failed, next }: SignInProps) {
  return (
    <SignedOutFrame title={text.signIn} {...(signUp === 'off' && { lead: text.byInvitation })}>
      {failed !== undefined && <OidcFailure title={text.notSignedIn} sentence={failed} />}
      {(oidc !== null || passkeys) && (
        <div class="stack tight ways">
          {oidc !== null && (
            <a
              class="button wide"
              href={`/console/oidc/start${queryStringOf({ next: next === '/' ? undefined : next })}`}
            >
              {text.continueWith(oidc.name)}
            </a>
          )}
          {passkeys && <PasskeyButton next={next} />}
        </div>
      )}
      {passwordSignIn && <PasswordForm next={next} />}
      {signUp !== 'off' && (
        <LinkButton href={signInPaths.signUp} size="wide" variant="quiet">
          {text.signUp}
        </LinkButton>
      )}
    </SignedOutFrame>
  );
}

/** The service has no operator yet; a database that lost its operator still has people with passwords. */
function NeedsSetUp({ hasPasswords, next }: NextProps & { readonly hasPasswords: boolean }) {
  const { title, lead, notice, where, canSignIn } = text.needsSetUp;
  return (
    <SignedOutFrame title={title} lead={lead}>
      <div class="stack">
        <Notice title={notice} text={where} />
        {hasPasswords && (
          <details>
            <summary>{canSignIn}</summary>
            <PasswordForm next={next} />
          </details>
        )}
      </div>
    </SignedOutFrame>
  );
}

function OidcFailure({ title, sentence }: { readonly title: string; readonly sentence: string }) {
  return (
    <div class="stack">
      <Notice tone="bad" title={title} isAlert text={sentence} />
    </div>
  );
}

/** A signed-in person returned from the identity provider without a confirmation. */
function NotConfirmed({ sentence, next }: NextProps & { readonly sentence: string }) {
  return (
    <SignedOutFrame title={text.notConfirmed}>
      <OidcFailure title={text.nothingChanged} sentence={sentence} />
      <LinkButton href={next}>{text.goBack}</LinkButton>
    </SignedOutFrame>
  );
}

function PasskeyButton({ next }: NextProps) {
  const signIn = useSudoAction(() => signInWithPasskey(), { onDone: useBeginSessionAndNavigate(next) });
  return (
    <>
      <Button size="wide" busy={signIn.isPending} onClick={() => signIn.mutate()}>
        <Fingerprint size={16} aria-hidden="true" /> {text.passkey}
      </Button>
      {signIn.error !== null && <ErrorBox failure={failureOf(signIn.error)} />}
    </>
  );
}

function PasswordForm({ next }: NextProps) {
  const { values, field } = useFields({ email: '', password: '' });
  const signIn = useSend('/api/console/v1/sign-in', { changes: [], onDone: useBeginSessionAndNavigate(next) });
  return (
    <Form submission={signIn} onSubmit={() => signIn.mutate({ ...values, email: values.email.trim() })}>
      <TextField label={text.email} type="email" autocomplete="username" required {...field('email')} />
      <TextField
        label={text.password}
        type="password"
        autocomplete="current-password"
        required
        {...field('password')}
      />
      <Button variant="primary" size="wide" type="submit" busy={signIn.isPending}>
        {text.signIn}
      </Button>
      <p class="faint">
        <small>{text.forgotten}</small>
      </p>
    </Form>
  );
}
