import { Route, Switch } from 'wouter-preact';
import { lazy } from './ui/lazy.tsx';
import { NotFound, PageLoading } from './shell/page-states.tsx';

const Overview = lazy(async () => (await import('./pages/account/overview.tsx')).OverviewPage, PageLoading);
const Playground = lazy(async () => (await import('./pages/account/playground.tsx')).PlaygroundPage, PageLoading);
const Tasks = lazy(async () => (await import('./pages/account/tasks.tsx')).TasksPage, PageLoading);
const Task = lazy(async () => (await import('./pages/account/task.tsx')).TaskPage, PageLoading);
const Credits = lazy(async () => (await import('./pages/account/credits.tsx')).CreditsPage, PageLoading);
const Callbacks = lazy(async () => (await import('./pages/account/callbacks.tsx')).CallbacksPage, PageLoading);
const Keys = lazy(async () => (await import('./pages/account/keys.tsx')).KeysPage, PageLoading);
const Members = lazy(async () => (await import('./pages/account/members.tsx')).MembersPage, PageLoading);
const Settings = lazy(async () => (await import('./pages/account/settings.tsx')).SettingsPage, PageLoading);
const Operators = lazy(async () => (await import('./pages/operators/routes.tsx')).OperatorRoutes, PageLoading);

/** Pages of one account; the account is in the address before them. */
export function AccountRoutes({ accountId }: { readonly accountId: string }) {
  const base = `/a/${accountId}`;
  return (
    <Switch>
      <Route path={base} component={Overview} />
      <Route path={`${base}/playground`} component={Playground} />
      <Route path={`${base}/tasks`} component={Tasks} />
      <Route path={`${base}/tasks/:taskId`}>{({ taskId }) => <Task key={taskId} taskId={taskId} />}</Route>
      <Route path={`${base}/credits`} component={Credits} />
      <Route path={`${base}/callbacks`} component={Callbacks} />
      <Route path={`${base}/keys`} component={Keys} />
      <Route path={`${base}/members`} component={Members} />
      <Route path={`${base}/settings`} component={Settings} />
      <Route component={NotFound} />
    </Switch>
  );
}

export function OpsRoutes() {
  return <Operators />;
}
