import type { Answer } from '../../api/call.ts';
import type { Account } from '../../api/contract.ts';
import { failureOf, problemOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { operatorPages } from '../../pages.ts';
import { opsPaths } from '../../paths.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useAddress } from '../../ui/filters.tsx';
import { Building2 } from '../../ui/icons.ts';
import { number } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { Purchases } from '../payments/purchases.tsx';
import { Ledger } from '../credits/ledger.tsx';
import { AccountKeys } from '../keys/keys-page.tsx';
import { AccountMembers } from '../people/account-members.tsx';
import { TaskList } from '../tasks/task-list.tsx';
import { PriceTables } from '../prices/prices-page.tsx';
import { AccountActions } from './account-actions.tsx';
import { AccountLimits } from './account-limits.tsx';
import { AccountState } from './account-state.tsx';
import { accountsText } from './accounts-text.ts';

const back = { href: opsPaths.accounts, label: operatorPages.accounts.title };

export function AccountPage({ id: accountId }: { readonly id: string }) {
  const { data, error, refetch } = useRead('/api/admin/v1/accounts/show', { accountId }, { everyMs: 15_000 });
  if (data !== undefined) return <AccountContent {...data} />;
  if (error === null) {
    return (
      <Page title={accountsText.account} back={back}>
        <Skeleton height="86px" />
        <EarlyList accountId={accountId} />
      </Page>
    );
  }
  const isUnknown = [404, 422].includes(problemOf(error).status);
  return (
    <Page title={accountsText.account} back={back}>
      {isUnknown ? (
        <Empty icon={Building2} title={accountsText.notFound}>
          <p>{accountsText.notFoundAdvice}</p>
        </Empty>
      ) : (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

/** The list of the chosen tab needs nothing of the account but its id, so it is read at the same time. */
function EarlyList({ accountId }: { readonly accountId: string }) {
  const tab = useTab();
  if (tab === 'ledger') return <Ledger accountId={accountId} />;
  return tab === 'tasks' ? <TaskList accountId={accountId} /> : <Skeleton height="240px" />;
}

const parts = {
  ledger: ({ account }: PartProps) => <Ledger accountId={account.accountId} />,
  tasks: ({ account }: PartProps) => <TaskList accountId={account.accountId} />,
  purchases: ({ account }: PartProps) => <Purchases accountId={account.accountId} />,
  prices: PriceTables,
  limits: AccountLimits,
  keys: AccountKeys,
  members: AccountMembers,
};
const tabs = ['ledger', 'tasks', 'purchases', 'prices', 'limits', 'keys', 'members'] as const;

function useTab() {
  const { get } = useAddress();
  return tabs.find((one) => one === get('tab')) ?? 'ledger';
}

type PartProps = { readonly account: Account };

function AccountContent({ account, counts }: Answer<'/api/admin/v1/accounts/show'>) {
  const { accountId, name } = account;
  const { hrefWith } = useAddress();
  const tab = useTab();
  const Part = parts[tab];
  const heading = (
    <span class="row">
      {name} <AccountState account={account} />
    </span>
  );
  const id = (
    <span class="id">
      <code>{accountId}</code>
      <CopyButton text={accountId} label={accountsText.copyId} />
    </span>
  );
  return (
    <Page title={name} heading={heading} lead={id} back={back} actions={<AccountActions account={account} />}>
      <StateNotice account={account} />
      <AccountTiles account={account} counts={counts} />
      <Tabs
        label={accountsText.tabs}
        tabs={tabs.map((value) => ({
          label: accountsText.tabNames[value],
          href: hrefWith({
            tab: value === 'ledger' ? undefined : value,
            kind: undefined,
            taskId: undefined,
            state: undefined,
          }),
          isCurrent: value === tab,
        }))}
      />
      <Part account={account} />
    </Page>
  );
}

function StateNotice({ account: { suspendTime, closeTime } }: PartProps) {
  if (suspendTime === null && closeTime === null) return null;
  const isClosed = closeTime !== null;
  return (
    <Notice tone="warn" title={isClosed ? accountsText.closedTitle : accountsText.suspendedTitle}>
      <p>
        {isClosed ? accountsText.closedSince : accountsText.suspendedSince}{' '}
        <ExactTime ms={closeTime ?? suspendTime ?? 0} />.{' '}
        {isClosed ? accountsText.closedText : accountsText.suspendedText}
      </p>
    </Notice>
  );
}

function AccountTiles({ account, counts }: Answer<'/api/admin/v1/accounts/show'>) {
  return (
    <Tiles
      tiles={[
        { label: accountsText.balance, value: number(account.balance), note: accountsText.credits },
        {
          label: accountsText.unfinished,
          value: number(account.unfinishedTasks),
          note: accountsText.limitNote(account.maxUnfinishedTasks),
        },
        {
          label: accountsText.generating,
          value: counted(counts.generating),
          note: accountsText.waitingNote(counted(counts.waiting + counts.queuing)),
        },
        { label: accountsText.tasks, value: counted(counts.tasks), note: accountsText.total },
        { label: accountsText.keys, value: counted(counts.activeKeys), note: accountsText.activeNote },
      ]}
    />
  );
}

/** The service does not count further. */
const countLimit = 10_000;

function counted(count: number): string {
  return count >= countLimit ? `${number(countLimit)}+` : number(count);
}
