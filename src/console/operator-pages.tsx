import { Route, Switch } from 'wouter-preact';
import { opsPaths } from './paths.ts';
import { NotFound } from './shell/page-states.tsx';
import { ProfilePage } from './features/security/profile-page.tsx';
import { AccountPage } from './pages/operators/account.tsx';
import { AccountsPage } from './pages/operators/accounts.tsx';
import { AuditPage } from './pages/operators/audit.tsx';
import { CallbacksPage } from './features/callbacks/callbacks-page.tsx';
import { OverviewPage } from './pages/operators/overview.tsx';
import { PeoplePage } from './pages/operators/people.tsx';
import { PricesPage } from './pages/operators/prices.tsx';
import { ProvidersPage } from './pages/operators/providers.tsx';
import { TaskPage } from './features/tasks/task-page.tsx';
import { TasksPage } from './features/tasks/tasks-page.tsx';

/** The pages of operators. */
export function OperatorPages() {
  return (
    <Switch>
      <Route path={opsPaths.overview} component={OverviewPage} />
      <Route path={opsPaths.accounts} component={AccountsPage} />
      <Route path={`${opsPaths.accounts}/:accountId`}>
        {({ accountId }) => <AccountPage key={accountId} accountId={accountId} />}
      </Route>
      <Route path={opsPaths.prices} component={PricesPage} />
      <Route path={opsPaths.providers} component={ProvidersPage} />
      <Route path={opsPaths.tasks} component={TasksPage} />
      <Route path={`${opsPaths.tasks}/:taskId`}>{({ taskId }) => <TaskPage key={taskId} taskId={taskId} />}</Route>
      <Route path={opsPaths.callbacks} component={CallbacksPage} />
      <Route path={opsPaths.audit} component={AuditPage} />
      <Route path={opsPaths.people} component={PeoplePage} />
      <Route path={opsPaths.profile} component={ProfilePage} />
      <Route component={NotFound} />
    </Switch>
  );
}
