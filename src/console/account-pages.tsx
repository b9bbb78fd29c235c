import type { FunctionComponent } from 'preact';
import { Route, Switch } from 'wouter-preact';
import { AccountSettingsPage } from './features/account-settings/account-settings-page.tsx';
import { CallbacksPage } from './features/callbacks/callbacks-page.tsx';
import { CreditsPage } from './features/credits/credits-page.tsx';
import { EventsPage } from './features/events/events-page.tsx';
import { GalleryPage } from './features/gallery/gallery-page.tsx';
import { KeysPage } from './features/keys/keys-page.tsx';
import { LimitsPage } from './features/limits/limits-page.tsx';
import { ModelPage } from './features/models/model-page.tsx';
import { ModelsPage } from './features/models/models-page.tsx';
import { OverviewPage } from './features/overview/overview-page.tsx';
import { MembersPage } from './features/people/members-page.tsx';
import { PlaygroundPage } from './features/playground/playground-page.tsx';
import { ProfilePage } from './features/security/profile-page.tsx';
import { SecurityPage } from './features/security/security-page.tsx';
import { RequestsPage } from './features/requests/requests-page.tsx';
import { TaskPage } from './features/tasks/task-page.tsx';
import { TasksPage } from './features/tasks/tasks-page.tsx';
import { UsagePage } from './features/usage/usage-page.tsx';
import { NotFound } from './shell/page-states.tsx';

/** The pages of one account, by what follows its address. */
const pages: Readonly<Record<string, FunctionComponent>> = {
  '': OverviewPage,
  '/playground': PlaygroundPage,
  '/models': ModelsPage,
  '/gallery': GalleryPage,
  '/tasks': TasksPage,
  '/credits': CreditsPage,
  '/callbacks': CallbacksPage,
  '/webhooks': EventsPage,
  '/requests': RequestsPage,
  '/usage': UsagePage,
  '/keys': KeysPage,
  '/members': MembersPage,
  '/settings': AccountSettingsPage,
  '/limits': LimitsPage,
  '/profile': ProfilePage,
  '/security': SecurityPage,
};

export function AccountPages({ accountId }: { readonly accountId: string }) {
  return (
    <Switch>
      {Object.entries(pages).map(([path, Page]) => (
        <Route key={path} path={`/a/${accountId}${path}`} component={Page} />
      ))}
      <Route path={`/a/${accountId}/tasks/:taskId`}>{({ taskId }) => <TaskPage key={taskId} taskId={taskId} />}</Route>
      <Route path={`/a/${accountId}/models/:name`}>{({ name }) => <ModelPage key={name} name={name} />}</Route>
      <Route component={NotFound} />
    </Switch>
  );
}
