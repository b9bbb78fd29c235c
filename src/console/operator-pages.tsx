import type { FunctionComponent } from 'preact';
import { RedemptionCodesPage } from './features/credits/redemption-codes-page.tsx';
import { ProfilePage } from './features/security/person-and-accounts-page.tsx';
import { SecurityPage } from './features/security/security-page.tsx';
import { AccountPage } from './features/accounts/account-page.tsx';
import { AccountsPage } from './features/accounts/accounts-page.tsx';
import { AuditPage } from './features/audit/audit-page.tsx';
import { CallbacksPage } from './features/callbacks/callbacks-page.tsx';
import { OperatorOverviewPage } from './features/overview/operator-overview-page.tsx';
import { OperatorPaymentsPage } from './features/payments/operator-payments-page.tsx';
import { AllPeoplePage } from './features/people/all-people-page.tsx';
import { OperatorPricesPage } from './features/prices/operator-prices-page.tsx';
import { ProvidersPage } from './features/providers/providers-page.tsx';
import { TaskPage } from './features/tasks/detail/task-page.tsx';
import { CataloguePage } from './features/catalogue/catalogue-page.tsx';
import { WaitingTasksPage } from './features/waiting/waiting-tasks-page.tsx';
import { TasksPage } from './features/tasks/list/tasks-page.tsx';
import { type OperatorPageName, operatorPages } from './pages.ts';
import { PageRoutes } from './shell/page-routes.tsx';

const pages: Readonly<Record<OperatorPageName, FunctionComponent>> = {
  overview: OperatorOverviewPage,
  waiting: WaitingTasksPage,
  tasks: TasksPage,
  callbacks: CallbacksPage,
  providers: ProvidersPage,
  catalogue: CataloguePage,
  accounts: AccountsPage,
  prices: OperatorPricesPage,
  codes: RedemptionCodesPage,
  payments: OperatorPaymentsPage,
  people: AllPeoplePage,
  audit: AuditPage,
  profile: ProfilePage,
  security: SecurityPage,
};

const details = { tasks: TaskPage, accounts: AccountPage };

export function OperatorPages() {
  return <PageRoutes account={undefined} declared={operatorPages} pages={pages} details={details} />;
}
