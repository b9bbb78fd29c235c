import { useEffect } from 'preact/hooks';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter-preact';
import { brand } from '../api/page-brand.ts';
import { AccountContext } from '../api/queries.ts';
import type { Me } from '../api/contract.ts';
import { useMe } from '../api/session.ts';
import { opsPaths, paths, signInPaths } from '../paths.ts';
import { AcceptLinkPage } from '../features/sign-in/accept-link-page.tsx';
import { SignInPage } from '../features/sign-in/sign-in-page.tsx';
import { SignUpPage } from '../features/sign-up/sign-up-page.tsx';
import { AccountPages, OperatorPages } from '../lazy-areas.tsx';
import { Toasts } from '../ui/feedback/toast.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { GateWaiting } from './signed-out-frame.tsx';
import { Forbidden, NoAccount, NotFound } from './page-states.tsx';
import { shellText } from './shell-text.ts';
import { AccountShell, OpsShell } from './shell.tsx';
import { Sudo } from './sudo-prompt.tsx';

/** The pages before a sign-in, and behind them those of the signed-in person. */
export function App() {
  return (
    <ErrorBoundary>
      <Switch>
        <Route path={signInPaths.signIn} component={SignInPage} />
        <Route path={signInPaths.signUp} component={SignUpPage} />
        {(['confirm', 'setup', 'invite', 'reset'] as const).map((purpose) => (
          <Route key={purpose} path={signInPaths[purpose]}>
            <AcceptLinkPage purpose={purpose} />
          </Route>
        ))}
        <Route>
          <SignedIn />
        </Route>
      </Switch>
      <Toasts />
    </ErrorBoundary>
  );
}

function SignedIn() {
  const read = useMe();
  const me = read.data;
  const [path] = useLocation();
  const search = useSearch();
  if (me === undefined) return <GateWaiting of={read} title={brand.name} />;
  if (me === null) {
    const next = path === '/' ? '' : `?next=${encodeURIComponent(search === '' ? path : `${path}?${search}`)}`;
    return <Redirect to={`${signInPaths.signIn}${next}`} replace />;
  }
  return (
    <>
      <Switch>
        <Route path="/">
          <Redirect to={homeOf(me)} replace />
        </Route>
        <Route path="/a/:accountId/*?">{({ accountId }) => <InAccount me={me} accountId={accountId} />}</Route>
        <Route path="/no-account">
          <OpsShell me={me}>
            <NoAccount />
          </OpsShell>
        </Route>
        <Route path="/ops/*?">
          <OpsShell me={me}>
            {me.user.isOperator ? <OperatorPages /> : <Forbidden what={shellText.forOperators} />}
          </OpsShell>
        </Route>
        <Route>
          <OpsShell me={me}>
            <NotFound />
          </OpsShell>
        </Route>
      </Switch>
      <Sudo />
    </>
  );
}

const lastAccount = 'videogen-account';

function InAccount({ me, accountId }: { readonly me: Me; readonly accountId: string }) {
  const isOwn = me.accounts.some((account) => account.accountId === accountId);
  useEffect(() => {
    if (isOwn) localStorage.setItem(lastAccount, accountId);
  }, [isOwn, accountId]);
  if (!isOwn && me.view?.accountId !== accountId) {
    return (
      <OpsShell me={me}>
        <Forbidden what={shellText.notYourAccount} />
      </OpsShell>
    );
  }
  return (
    <AccountContext.Provider value={accountId}>
      <AccountShell key={accountId} me={me}>
        <AccountPages accountId={accountId} />
      </AccountShell>
    </AccountContext.Provider>
  );
}

/** The account of the last visit, else the first one; operators without an account begin at their own pages. */
function homeOf({ user, accounts }: Me): string {
  const last = accounts.find(({ accountId }) => accountId === localStorage.getItem(lastAccount)) ?? accounts[0];
  if (last !== undefined) return paths.overview(last.accountId);
  return user.isOperator ? opsPaths.overview : '/no-account';
}
