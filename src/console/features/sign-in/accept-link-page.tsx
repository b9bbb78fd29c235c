import { useEffect } from 'preact/hooks';
import type { SendAnswer } from '../../api/call.ts';
import { failureOf } from '../../api/api-problem-and-words.ts';
import { useRead, useSend } from '../../api/read-and-send-hooks.ts';
import { signInPaths } from '../../paths.ts';
import { SignedOutFrame, SignedOutSkeleton } from '../../shell/signed-out-frame.tsx';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { ErrorBox, Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { useBeginSessionAndNavigate } from './begin-session-and-page-after-sign-in.ts';
import { signInText as text } from './sign-in-text.ts';

type OneTimeLink = SendAnswer<'/api/console/v1/links/show'>;

/** The token stands behind `#`, so it is in no log; it leaves the address as soon as it is read. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token !== '') history.replaceState(history.state, '', location.pathname);
  return token;
}

/** Set-up, invitation, reset and sign-up: a one-time link leads to a password, and the password to a session. */
export function AcceptLinkPage({ purpose }: Pick<OneTimeLink, 'purpose'>) {
  const show = useSend('/api/console/v1/links/show', { changes: [] });
  const { data: link, error, variables } = show;
  const token = variables?.token;
  const { data: options } = useRead('/api/console/v1/options', {});
  const { title, expired } = text.links[purpose];
  useEffect(() => {
    const begin = () => show.mutate({ token: takeToken() });
    begin();
    // A fresh link in the same tab differs behind `#` only, and no page is loaded for that.
    addEventListener('hashchange', begin);
    return () => removeEventListener('hashchange', begin);
  }, []);
  if (token !== undefined && error !== null && error.status !== 404 && error.status !== 422) {
    return (
      <SignedOutFrame title={title}>
        <ErrorBox failure={failureOf(error)} onRetry={() => show.mutate({ token })} />
      </SignedOutFrame>
    );
  }
  if (error !== null || token === '' || (link !== undefined && link.purpose !== purpose)) {
    return (
      <SignedOutFrame title={text.invalidLink}>
        <div class="stack">
          <Notice tone="warn" title={text.invalidReason} text={expired} />
          <SignInLink />
        </div>
      </SignedOutFrame>
    );
  }
  if (token === undefined || link === undefined) return <SignedOutSkeleton />;
  if (options?.passwordSignIn === false) {
    return (
      <SignedOutFrame title={title} lead={text.byProvider(options.oidc?.name ?? text.yourProvider)}>
        <SignInLink />
      </SignedOutFrame>
    );
  }
  return (
    <SignedOutFrame title={title} lead={leadOf(link)}>
      <AcceptForm key={token} token={token} link={link} />
    </SignedOutFrame>
  );
}

function SignInLink() {
  return (
    <LinkButton href={signInPaths.signIn} size="wide" variant="primary">
      {text.goToSignIn}
    </LinkButton>
  );
}

function leadOf(link: OneTimeLink): string {
  const { purpose, accountName, role } = link;
  return purpose === 'invite' ? text.invited(hasPassword(link), accountName, role) : text.links[purpose].lead;
}

/** An invitation gives no access to an existing person: they enter their password. */
function hasPassword({ purpose, userExists }: OneTimeLink): boolean {
  return purpose === 'invite' && userExists;
}

function AcceptForm({ token, link }: { readonly token: string; readonly link: OneTimeLink }) {
  const { values, field } = useFields({ email: link.email ?? '', accountName: '', password: '' });
  const isOld = hasPassword(link);
  const opensAccount = link.purpose === 'confirm';
  const accept = useSend('/api/console/v1/links/accept', { changes: [], onDone: useBeginSessionAndNavigate('/') });
  const submit = () => {
    const own = link.email === null ? { email: values.email.trim() } : {};
    const account = opensAccount ? { accountName: values.accountName.trim() } : {};
    accept.mutate({ token, password: values.password, ...own, ...account });
  };
  return (
    <Form submission={accept} onSubmit={submit}>
      <TextField
        label={text.email}
        type="email"
        autocomplete="username"
        readOnly={link.email !== null}
        required
        {...field('email')}
      />
      {opensAccount && (
        <TextField
          label={text.accountName}
          hint={text.accountNameHint}
          autocomplete="organization"
          required
          {...field('accountName')}
        />
      )}
      <TextField
        label={text.password}
        type="password"
        autocomplete={isOld ? 'current-password' : 'new-password'}
        hint={isOld ? text.existingHint : text.passwordHint}
        required
        {...field('password')}
      />
      <Button variant="primary" size="wide" type="submit" busy={accept.isPending}>
        {text.links[link.purpose].action}
      </Button>
    </Form>
  );
}
