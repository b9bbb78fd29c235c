import type { QueryClient } from '@tanstack/preact-query';
import { parse } from 'regexparam';
import { matchRoute, Route, Switch } from 'wouter-preact';
import { loadTask } from './pages/account/use-task.ts';
import { type Lazy, lazy } from './ui/lazy.tsx';
import { NotFound, PageLoading } from './shell/page-states.tsx';

type Params = { readonly taskId: string };

const taskPage = '/tasks/:taskId';

/** Pages of one account, by what stands behind its address. */
const accountPages: Readonly<Record<string, Lazy<Params>>> = {
  '': lazy(async () => (await import('./pages/account/overview.tsx')).OverviewPage, PageLoading),
  '/playground': lazy(async () => (await import('./pages/account/playground.tsx')).PlaygroundPage, PageLoading),
  '/tasks': lazy(async () => (await import('./pages/account/tasks.tsx')).TasksPage, PageLoading),
  [taskPage]: lazy(async () => (await import('./pages/account/task.tsx')).TaskPage, PageLoading),
  '/credits': lazy(async () => (await import('./pages/account/credits.tsx')).CreditsPage, PageLoading),
  '/callbacks': lazy(async () => (await import('./pages/account/callbacks.tsx')).CallbacksPage, PageLoading),
  '/keys': lazy(async () => (await import('./pages/account/keys.tsx')).KeysPage, PageLoading),
  '/members': lazy(async () => (await import('./pages/account/members.tsx')).MembersPage, PageLoading),
  '/settings': lazy(async () => (await import('./pages/account/settings.tsx')).SettingsPage, PageLoading),
};

const Operators = lazy(async () => (await import('./pages/operators/routes.tsx')).OperatorRoutes, PageLoading);

/** Begins to load the code of the page at this address, and a task, which are shown when it is known who is signed in. */
export function loadPage(client: QueryClient, path: string): void {
  const matches = (pattern: string) => matchRoute(parse, pattern, path)[0];
  const found = Object.keys(accountPages).find((page) => matches(`/a/:accountId${page}`));
  const page = matches('/ops/*?') ? Operators : found === undefined ? undefined : accountPages[found];
  const [isTask, of] = matchRoute(parse, `/a/:accountId${taskPage}`, path);
  // What does not come, the page says.
  page?.load().catch(() => undefined);
  if (isTask) loadTask(client, of.accountId, of.taskId).catch(() => undefined);
}

export function AccountRoutes({ accountId }: { readonly accountId: string }) {
  return (
    <Switch>
      {Object.entries(accountPages).map(([path, Page]) => (
        <Route key={path} path={`/a/${accountId}${path}`}>
          {({ taskId = '' }: Partial<Params>) => <Page key={taskId} taskId={taskId} />}
        </Route>
      ))}
      <Route component={NotFound} />
    </Switch>
  );
}

export function OpsRoutes() {
  return <Operators />;
}
