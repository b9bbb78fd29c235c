import { useEffect } from 'preact/hooks';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter-preact';
import { brand } from '../api/page-brand.ts';
import { AccountContext } from '../api/account-context.ts';
import type { Me } from '../api/contract.ts';
import { useMe } from '../api/session.ts';
import { operatorPaths, accountPaths, signInPaths } from '../paths.ts';
import { AcceptLinkPage } from '../features/sign-in/accept-link-page.tsx';
import { SignInPage } from '../features/sign-in/sign-in-page.tsx';
import { SignUpPage } from '../features/sign-up/sign-up-page.tsx';
import { LazyAccountPages, LazyOperatorPages } from '../lazy-areas.tsx';
import { Toasts } from '../ui/feedback/toast.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { SignedOutLoadingOrError } from './signed-out-frame.tsx';
import { Forbidden, NoAccount, NotFound } from './page-states.tsx';
import { shellText } from './shell-text.ts';
import { AccountShell, OperatorShell } from './shell.tsx';
import { SudoPrompt } from './sudo-prompt.tsx';

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
  if (me === undefined) return <SignedOutLoadingOrError of={read} title={brand.name} />;
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
          <OperatorShell me={me}>
            <NoAccount />
          </OperatorShell>
        </Route>
        <Route path="/ops/*?">
          <OperatorShell me={me}>
            {me.user.isOperator ? <LazyOperatorPages /> : <Forbidden what={shellText.forOperators} />}
          </OperatorShell>
        </Route>
        <Route>
          <OperatorShell me={me}>
            <NotFound />
          </OperatorShell>
        </Route>
      </Switch>
      <SudoPrompt />
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
      <OperatorShell me={me}>
        <Forbidden what={shellText.notYourAccount} />
      </OperatorShell>
    );
  }
  return (
    <AccountContext.Provider value={accountId}>
      <AccountShell key={accountId} me={me}>
        <LazyAccountPages accountId={accountId} />
      </AccountShell>
    </AccountContext.Provider>
  );
}

/** The account of the last visit, else the first one; operators without an account begin at their own pages. */
function homeOf({ user, accounts }: Me): string {
  const last = accounts.find(({ accountId }) => accountId === localStorage.getItem(lastAccount)) ?? accounts[0];
  if (last !== undefined) return accountPaths.overview(last.accountId);
  return user.isOperator ? operatorPaths.overview : '/no-account';
}
