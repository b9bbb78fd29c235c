import { Building2 } from './icons.ts';
import { Plus } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Account } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect, TextField } from '../../ui/field.tsx';
import { credits, number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { wholeOf } from './figures.ts';

const states = [
  { value: '', label: 'All accounts' },
  { value: 'false', label: 'Active' },
  { value: 'true', label: 'Suspended' },
] as const;

export function AccountsPage() {
  const { get, set } = useAddress();
  const [search, suspended, cursor] = [get('search'), get('suspended') ?? '', get('cursor')];
  const { data, error, refetch } = useRead(
    '/api/admin/v1/accounts',
    { search, suspended: suspended === '' ? undefined : suspended === 'true', cursor, limit: 50 },
    { keeps: true },
  );
  return (
    <Page title="Accounts" lead="Everybody who uses the service." actions={<OpenButton />}>
      <div class="filters">
        <SearchField label="Name begins with, or id" value={search ?? ''} onValue={(value) => set({ search: value })} />
        <FilterSelect
          label="State"
          value={states.find(({ value }) => value === suspended)?.value ?? ''}
          options={states}
          onValue={(value) => set({ suspended: value })}
        />
      </div>
      {error !== null && data === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.accounts.length === 0 ? (
        <NoAccounts isFiltered={search !== undefined || suspended !== ''} />
      ) : (
        <AccountTable accounts={data?.accounts} />
      )}
      <Pager nextCursor={data?.nextCursor} what="accounts" />
    </Page>
  );
}

function NoAccounts({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty icon={Building2} title={isFiltered ? 'No account matches' : 'No accounts yet'}>
      <p>
        {isFiltered
          ? 'The search finds how a name begins, in any case, or the whole id of an account.'
          : 'An account has a balance, keys and members. Open one, then invite its owner.'}
      </p>
    </Empty>
  );
}

function AccountTable({ accounts }: { readonly accounts: readonly Account[] | undefined }) {
  return (
    <Table
      caption="Accounts"
      rows={accounts}
      rowKey={({ accountId }) => accountId}
      isLinked
      columns={[
        {
          title: 'Account',
          kind: 'head',
          cell: ({ accountId, name }) => (
            <Link href={opsPaths.account(accountId)} class="row-link">
              {name}
            </Link>
          ),
        },
        { title: 'State', cell: (account) => <AccountState account={account} /> },
        { title: 'Balance', kind: 'end', cell: ({ balance }) => number(balance) },
        {
          title: 'Unfinished tasks',
          kind: 'end',
          cell: ({ unfinishedTasks, maxUnfinishedTasks }) =>
            `${number(unfinishedTasks)} of ${number(maxUnfinishedTasks)}`,
        },
        { title: 'Opened', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
      ]}
    />
  );
}

type State = { readonly account: Pick<Account, 'suspendTime' | 'closeTime'> };

export function AccountState({ account: { suspendTime, closeTime } }: State) {
  if (closeTime !== null) return <StateDot tone="calm">Closed</StateDot>;
  return suspendTime === null ? <StateDot tone="good">Active</StateDot> : <StateDot tone="bad">Suspended</StateDot>;
}

function OpenButton() {
  const [isAsked, setAsked] = useState(false);
  const [name, setName] = useState('');
  const [opening, setOpening] = useState('0');
  const [, navigate] = useLocation();
  const amount = wholeOf(opening);
  return (
    <>
      <Button look="primary" onClick={() => setAsked(true)}>
        <Plus size={16} aria-hidden="true" /> Open an account
      </Button>
      {isAsked && (
        <ChangeDialog
          path="/api/admin/v1/accounts"
          title="Open an account"
          action="Open the account"
          says={
            amount > 0
              ? `The account begins with ${credits(amount)}, the first entry of its ledger. It has no key and no member yet.`
              : 'The account begins with an empty balance. It has no key and no member yet.'
          }
          fields={['name', 'credits']}
          body={() => ({ name, credits: amount })}
          onClose={() => setAsked(false)}
          onDone={(account) => {
            toast(`${account.name} is open with ${credits(account.balance)}`);
            navigate(opsPaths.account(account.accountId));
          }}
        >
          {(faults) => (
            <>
              <TextField
                label="Name"
                autocomplete="off"
                maxLength={200}
                value={name}
                onValue={setName}
                fault={faults['name']}
              />
              <TextField
                label="Opening credits"
                inputMode="numeric"
                autocomplete="off"
                value={opening}
                onValue={setOpening}
                fault={faults['credits']}
              />
            </>
          )}
        </ChangeDialog>
      )}
    </>
  );
}
