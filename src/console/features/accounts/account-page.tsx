import { Link } from 'wouter-preact';
import type { Answer } from '../../api/call.ts';
import type { Account } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { operatorPages } from '../../pages.ts';
import { operatorPaths } from '../../paths.ts';
import { useUrlParameters, useChoiceInUrl } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Building2 } from '../../ui/controls/icons.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { TabLinks } from '../../ui/controls/tab-links.tsx';
import { ExactTime } from '../../ui/times-and-durations.tsx';
import { DetailPage } from '../../ui/lists/detail-page.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { PurchaseList } from '../payments/purchases.tsx';
import { Ledger } from '../credits/ledger.tsx';
import { OperatorAccountKeys } from '../keys/operator-account-keys.tsx';
import { OperatorAccountMembers } from '../people/operator-account-members.tsx';
import { TaskList } from '../tasks/list/task-list.tsx';
import { CurrentAndSetPrices } from '../prices/operator-prices-page.tsx';
import { AccountActions } from './account-actions.tsx';
import { AccountLimits } from './account-limits.tsx';
import { AccountState } from './account-state.tsx';
import { accountsText } from './accounts-text.ts';

const back = { href: operatorPaths.accounts, label: operatorPages.accounts.title };

export function AccountPage({ id: accountId }: { readonly id: string }) {
  const account = useRead('/api/admin/v1/accounts/show', { accountId }, { everyMs: 15_000 });
  return (
    <DetailPage
      of={account}
      title={accountsText.account}
      back={back}
      unknown={{
        icon: Building2,
        title: accountsText.notFound,
        text: accountsText.notFoundAdvice,
        seeAll: accountsText.seeAll,
      }}
    >
      {(data) => <AccountContent {...data} />}
    </DetailPage>
  );
}

const parts = {
  ledger: ({ account }: PartProps) => <Ledger accountId={account.accountId} />,
  tasks: ({ account }: PartProps) => <TaskList accountId={account.accountId} />,
  purchases: ({ account }: PartProps) => <PurchaseList accountId={account.accountId} />,
  prices: CurrentAndSetPrices,
  limits: AccountLimits,
  keys: OperatorAccountKeys,
  members: OperatorAccountMembers,
};
const tabs = ['ledger', 'tasks', 'purchases', 'prices', 'limits', 'keys', 'members'] as const;

type PartProps = { readonly account: Account };

function AccountContent({ account, counts }: Answer<'/api/admin/v1/accounts/show'>) {
  const { accountId, name } = account;
  const { hrefWith } = useUrlParameters();
  const [tab] = useChoiceInUrl('tab', tabs, 'ledger');
  const Part = parts[tab];
  const heading = (
    <span class="row">
      {name} <AccountState account={account} />
    </span>
  );
  const id = <CopyId id={accountId} label={accountsText.copyId} />;
  return (
    <Page title={name} heading={heading} lead={id} back={back} actions={<AccountActions account={account} />}>
      <StateNotice account={account} />
      <AccountTiles account={account} counts={counts} />
      <TabLinks
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

function StateNotice({ account: { accountId, suspendTime, closeTime } }: PartProps) {
  if (suspendTime === null && closeTime === null) return null;
  const isClosed = closeTime !== null;
  return (
    <Notice tone="warn" title={isClosed ? accountsText.closedTitle : accountsText.suspendedTitle}>
      <p>
        {isClosed ? accountsText.closedSince : accountsText.suspendedSince}{' '}
        <ExactTime ms={closeTime ?? suspendTime ?? 0} />.{' '}
        {isClosed ? accountsText.closedText : accountsText.suspendedText}{' '}
        <Link href={`${operatorPaths.audit}?account=${accountId}`}>{accountsText.seeAudit}</Link>
      </p>
    </Notice>
  );
}

function AccountTiles({ account, counts }: Answer<'/api/admin/v1/accounts/show'>) {
  return (
    <Tiles
      tiles={[
        { label: accountsText.balance, value: formatNumber(account.balance), note: accountsText.credits },
        {
          label: accountsText.unfinished,
          value: formatNumber(account.unfinishedTasks),
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
  return count >= countLimit ? `${formatNumber(countLimit)}+` : formatNumber(count);
}
