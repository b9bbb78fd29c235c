import { Route, Switch } from 'wouter-preact';
import { opsPaths } from './paths.ts';
import { CodesPage } from './features/credits/codes-page.tsx';
import { NotFound } from './shell/page-states.tsx';
import { ProfilePage } from './features/security/profile-page.tsx';
import { SecurityPage } from './features/security/security-page.tsx';
import { AccountPage } from './features/accounts/account-page.tsx';
import { AccountsPage } from './features/accounts/accounts-page.tsx';
import { AuditPage } from './features/audit/audit-page.tsx';
import { CallbacksPage } from './features/callbacks/callbacks-page.tsx';
import { InstallationPage } from './features/overview/installation-page.tsx';
import { PaymentsPage } from './features/payments/payments-page.tsx';
import { PeoplePage } from './features/people/people-page.tsx';
import { PricesPage } from './features/prices/prices-page.tsx';
import { ProvidersPage } from './features/providers/providers-page.tsx';
import { TaskPage } from './features/tasks/task-page.tsx';
import { CataloguePage } from './features/catalogue/catalogue-page.tsx';
import { WaitingPage } from './features/waiting/waiting-page.tsx';
import { TasksPage } from './features/tasks/tasks-page.tsx';

/** The pages of operators. */
export function OperatorPages() {
  return (
    <Switch>
      <Route path={opsPaths.overview} component={InstallationPage} />
      <Route path={opsPaths.accounts} component={AccountsPage} />
      <Route path={`${opsPaths.accounts}/:accountId`}>
        {({ accountId }) => <AccountPage key={accountId} accountId={accountId} />}
      </Route>
      <Route path={opsPaths.prices} component={PricesPage} />
      <Route path={opsPaths.codes} component={CodesPage} />
      <Route path={opsPaths.payments} component={PaymentsPage} />
      <Route path={opsPaths.providers} component={ProvidersPage} />
      <Route path={opsPaths.waiting} component={WaitingPage} />
      <Route path={opsPaths.catalogue} component={CataloguePage} />
      <Route path={opsPaths.tasks} component={TasksPage} />
      <Route path={`${opsPaths.tasks}/:taskId`}>{({ taskId }) => <TaskPage key={taskId} taskId={taskId} />}</Route>
      <Route path={opsPaths.callbacks} component={CallbacksPage} />
      <Route path={opsPaths.audit} component={AuditPage} />
      <Route path={opsPaths.people} component={PeoplePage} />
      <Route path={opsPaths.profile} component={ProfilePage} />
      <Route path={opsPaths.security} component={SecurityPage} />
      <Route component={NotFound} />
    </Switch>
  );
}
