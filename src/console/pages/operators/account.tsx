import { Building2 } from './icons.ts';
import { failureOf, problemOf } from '../../api/problem.ts';
import type { Answer } from '../../api/call.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Page, Tiles } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { AccountKeys } from './account-keys.tsx';
import { AccountLedger } from './account-ledger.tsx';
import { AccountLimits } from './account-limits.tsx';
import { AccountMembers } from './account-members.tsx';
import { AdjustButton, CloseButton, GrantButton, RenameButton, SuspendButton } from './account-changes.tsx';
import { AccountState } from './accounts.tsx';
import { PriceTables } from './prices.tsx';
import { TaskList } from '../../features/tasks/task-list.tsx';

const back = { href: opsPaths.accounts, label: 'Accounts' };

export function AccountPage({ accountId }: { readonly accountId: string }) {
  const { data, error, refetch } = useRead('/api/admin/v1/accounts/show', { accountId }, { everyMs: 15_000 });
  if (data !== undefined) return <AccountContent {...data} />;
  if (error === null) {
    return (
      <Page title="Account" back={back}>
        <Skeleton height="86px" />
        <Skeleton height="240px" />
      </Page>
    );
  }
  const isUnknown = [404, 422].includes(problemOf(error).status);
  return (
    <Page title="Account" back={back}>
      {isUnknown ? (
        <Empty icon={Building2} title="No such account">
          <p>Nothing has this id. Accounts are found by their names in the list.</p>
        </Empty>
      ) : (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

const tabs = [
  ['ledger', 'Ledger'],
  ['tasks', 'Tasks'],
  ['prices', 'Prices'],
  ['limits', 'Limits'],
  ['keys', 'Keys'],
  ['members', 'Members'],
] as const;

function AccountContent({ account, counts }: Answer<'/api/admin/v1/accounts/show'>) {
  const { accountId, name, suspendTime, closeTime } = account;
  const { get, hrefWith } = useAddress();
  const tab = tabs.find(([value]) => value === get('tab'))?.[0] ?? 'ledger';
  const heading = (
    <span class="row">
      {name} <AccountState account={account} />
    </span>
  );
  const id = (
    <span class="id">
      <code>{accountId}</code>
      <CopyButton text={accountId} label="Copy the account’s id" />
    </span>
  );
  const actions = (
    <>
      {closeTime === null && <CloseButton account={account} />}
      {closeTime === null && <SuspendButton account={account} />}
      {closeTime === null && <RenameButton account={account} />}
      <AdjustButton account={account} />
      {closeTime === null && <GrantButton account={account} />}
    </>
  );
  return (
    <Page title={name} heading={heading} lead={id} back={back} actions={actions}>
      {closeTime !== null && (
        <Notice tone="warn" title="This account is closed">
          <p>
            Since <ExactTime ms={closeTime} />, for good. Its ledger stays, and what its tasks were about is deleted.
          </p>
        </Notice>
      )}
      {closeTime === null && suspendTime !== null && (
        <Notice tone="warn" title="This account is suspended">
          <p>
            Since <ExactTime ms={suspendTime} /> it creates no tasks and no keys. What it has paid for is finished.
          </p>
        </Notice>
      )}
      <Tiles
        tiles={[
          { label: 'Balance', value: number(account.balance), note: 'credits' },
          {
            label: 'Unfinished tasks',
            value: number(account.unfinishedTasks),
            note: `of ${number(account.maxUnfinishedTasks)} at most`,
          },
          {
            label: 'Generating',
            value: counted(counts.generating),
            note: `${counted(counts.waiting + counts.queuing)} wait`,
          },
          { label: 'Tasks', value: counted(counts.tasks), note: 'ever' },
          { label: 'API keys', value: counted(counts.activeKeys), note: 'active' },
        ]}
      />
      <Tabs
        label="Parts of the account"
        tabs={tabs.map(([value, label]) => ({
          label,
          href: hrefWith({ tab: value === 'ledger' ? undefined : value, cursor: undefined }),
          isCurrent: value === tab,
        }))}
      />
      <AccountPart tab={tab} account={account} />
    </Page>
  );
}

type PartProps = Pick<Answer<'/api/admin/v1/accounts/show'>, 'account'> & { readonly tab: (typeof tabs)[number][0] };

function AccountPart({ tab, account }: PartProps) {
  switch (tab) {
    case 'ledger':
      return <AccountLedger accountId={account.accountId} />;
    case 'tasks':
      return <TaskList accountId={account.accountId} />;
    case 'prices':
      return <PriceTables account={account} />;
    case 'limits':
      return <AccountLimits account={account} />;
    case 'keys':
      return <AccountKeys account={account} />;
    case 'members':
      return <AccountMembers account={account} />;
    default:
      return tab satisfies never;
  }
}

/** The service counts so far and no further. */
const countLimit = 10_000;

function counted(count: number): string {
  return count >= countLimit ? `${number(countLimit)}+` : number(count);
}
