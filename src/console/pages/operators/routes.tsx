import { Route, Switch } from 'wouter-preact';
import { opsPaths } from '../../paths.ts';
import { NotFound } from '../../shell/page-states.tsx';
import { SettingsPage } from '../account/settings.tsx';
import { AccountPage } from './account.tsx';
import { AccountsPage } from './accounts.tsx';
import { AuditPage } from './audit.tsx';
import { CallbacksPage } from './callbacks.tsx';
import { OverviewPage } from './overview.tsx';
import { PeoplePage } from './people.tsx';
import { PricesPage } from './prices.tsx';
import { ProvidersPage } from './providers.tsx';
import { TaskPage } from './task.tsx';
import { TasksPage } from './tasks.tsx';
import '../../styles/operators.css';

/** Every page of the operators; loaded together when one of them is opened. */
export function OperatorRoutes() {
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
      <Route path={opsPaths.settings} component={SettingsPage} />
      <Route component={NotFound} />
    </Switch>
  );
}
