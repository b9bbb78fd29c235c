import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { minPasswordLength } from '../../../people/user.ts';
import { send, type Sent } from '../../api/call.ts';
import { type ApiProblem, failureOf, problemOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useSignedIn } from '../../api/session.ts';
import { signInPaths } from '../../paths.ts';
import { Gate, GateLoading } from '../../shell/gate.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';

type OneTimeLink = Sent<'/api/console/v1/links/show'>;
type Purpose = OneTimeLink['purpose'];

const words: Readonly<Record<Purpose, { readonly title: string; readonly action: string; readonly old: string }>> = {
  setup: {
    title: 'Set up Videogen',
    action: 'Create the first account',
    old: 'Restart the service: it prints a new link as long as nobody has used one.',
  },
  invite: { title: 'You are invited', action: 'Accept and sign in', old: 'Ask whoever invited you for a new link.' },
  reset: {
    title: 'Set a new password',
    action: 'Set password and sign in',
    old: 'Ask an operator for a new link.',
  },
};

/** The token stands behind `#`, so it is in no log; it leaves the address as soon as it is read. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token !== '') history.replaceState(history.state, '', location.pathname);
  return token;
}

/** Set-up, invitation and reset: a link of one use leads to a password, and the password to a session. */
export function AcceptLinkPage({ purpose }: { readonly purpose: Purpose }) {
  const show = useSend('/api/console/v1/links/show', { changes: [] });
  const { data: link, error: problem, variables } = show;
  const token = variables?.token;
  const { data: options } = useRead('/api/console/v1/options', {});
  const { title, old } = words[purpose];
  useEffect(() => {
    const begin = () => show.mutate({ token: takeToken() });
    begin();
    // A fresh link in the same tab differs behind `#` only, and no page is loaded for that.
    addEventListener('hashchange', begin);
    return () => removeEventListener('hashchange', begin);
  }, []);
  if (token !== undefined && problem !== null && problem.status !== 404 && problem.status !== 422) {
    return (
      <Gate title={title}>
        <ErrorBox failure={failureOf(problem)} onRetry={() => show.mutate({ token })} />
      </Gate>
    );
  }
  if (problem !== null || token === '' || (link !== undefined && link.purpose !== purpose)) {
    return (
      <Gate title="This link does not work any more">
        <div class="stack">
          <Notice tone="warn" title="It was used, has expired, or is incomplete">
            <p>{old}</p>
          </Notice>
          <LinkButton href={signInPaths.signIn} size="wide">
            Go to sign-in
          </LinkButton>
        </div>
      </Gate>
    );
  }
  if (token === undefined || link === undefined) return <GateLoading />;
  if (options?.passwordSignIn === false) {
    return (
      <Gate title={title} lead="Passwords are off here: sign in as usual, and the invitation counts.">
        <LinkButton href={signInPaths.signIn} size="wide" look="primary">
          Go to sign-in
        </LinkButton>
      </Gate>
    );
  }
  return (
    <Gate title={title} lead={leadOf(link)}>
      <AcceptForm key={token} token={token} link={link} />
    </Gate>
  );
}

function leadOf(link: OneTimeLink): string {
  const { purpose, accountName, role } = link;
  if (purpose === 'setup') return 'You become the first operator, and the owner of the first account.';
  if (purpose === 'reset') return 'All other sessions of yours end when you do.';
  const which = asksForOld(link) ? 'Type the password that you have here' : 'Choose a password';
  if (accountName === null) return `${which} to operate this service.`;
  return `${which} to join ${accountName}${role === null ? '' : ` as ${role}`}.`;
}

/** An invitation opens nothing that exists: whoever has a password proves it. */
function asksForOld({ purpose, userExists }: OneTimeLink): boolean {
  return purpose === 'invite' && userExists;
}

const passwordHint = `At least ${minPasswordLength} characters of any kind. A few random words are easy to keep in mind.`;

function AcceptForm({ token, link }: { readonly token: string; readonly link: OneTimeLink }) {
  const [email, setEmail] = useState(link.email ?? '');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<ApiProblem>();
  const [isBusy, setBusy] = useState(false);
  const signedIn = useSignedIn();
  const [, navigate] = useLocation();
  const isOld = asksForOld(link);
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    const own = link.email === null ? { email: email.trim() } : {};
    try {
      signedIn(await send('/api/console/v1/links/accept', { token, password, ...own }, { account: undefined }));
      navigate('/', { replace: true });
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  const faults = problem?.faults ?? {};
  const isOfField = Object.keys(faults).some((path) => path === 'email' || path === 'password');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      {problem !== undefined && !isOfField && <ErrorBox failure={failureOf(problem)} />}
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autocomplete="username"
        value={email}
        onValue={setEmail}
        readOnly={link.email !== null}
        fault={faults['email']}
        required
      />
      <TextField
        label="Password"
        type="password"
        name={isOld ? 'password' : 'new-password'}
        autocomplete={isOld ? 'current-password' : 'new-password'}
        value={password}
        onValue={setPassword}
        fault={faults['password']}
        hint={isOld ? 'You signed in here before. It stays as it is.' : passwordHint}
        required
      />
      <Button look="primary" size="wide" type="submit" busy={isBusy}>
        {words[link.purpose].action}
      </Button>
    </form>
  );
}
