import type { FunctionComponent } from 'preact';
import { AccountSettingsPage } from './features/account-settings/account-settings-page.tsx';
import { CallbacksPage } from './features/callbacks/callbacks-page.tsx';
import { CreditsPage } from './features/credits/credits-page.tsx';
import { EventsPage } from './features/events/events-page.tsx';
import { GalleryPage } from './features/gallery/gallery-page.tsx';
import { KeysPage } from './features/keys/keys-page.tsx';
import { LimitsPage } from './features/limits/limits-page.tsx';
import { ModelPage } from './features/models/model-page.tsx';
import { ModelsPage } from './features/models/models-page.tsx';
import { AccountOverviewPage } from './features/overview/account-overview-page.tsx';
import { MembersPage } from './features/people/members-page.tsx';
import { PlaygroundPage } from './features/playground/playground-page.tsx';
import { ProfilePage } from './features/security/person-and-accounts-page.tsx';
import { SecurityPage } from './features/security/security-page.tsx';
import { RequestsPage } from './features/requests/requests-page.tsx';
import { TaskPage } from './features/tasks/detail/task-page.tsx';
import { TasksPage } from './features/tasks/list/tasks-page.tsx';
import { UsagePage } from './features/usage/usage-page.tsx';
import { type AccountPageName, accountPages } from './pages.ts';
import { PageRoutes } from './shell/page-routes.tsx';

const pages: Readonly<Record<AccountPageName, FunctionComponent>> = {
  overview: AccountOverviewPage,
  playground: PlaygroundPage,
  gallery: GalleryPage,
  models: ModelsPage,
  keys: KeysPage,
  tasks: TasksPage,
  usage: UsagePage,
  credits: CreditsPage,
  callbacks: CallbacksPage,
  webhooks: EventsPage,
  requests: RequestsPage,
  members: MembersPage,
  limits: LimitsPage,
  settings: AccountSettingsPage,
  profile: ProfilePage,
  security: SecurityPage,
};

const details = { tasks: TaskPage, models: ModelPage };

export function AccountPages({ accountId }: { readonly accountId: string }) {
  return <PageRoutes account={accountId} declared={accountPages} pages={pages} details={details} />;
}
