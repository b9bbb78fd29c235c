import { Link, useLocation } from 'wouter-preact';
import type { Query } from '../../api/call.ts';
import { operatorPaths } from '../../paths.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { choiceFilter, type Filter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { Building2, Plus } from '../../ui/controls/icons.ts';
import { ListPage } from '../../ui/lists/list.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { AccountState } from './account-state.tsx';
import { accountsText } from './accounts-text.ts';

const filters: readonly Filter<Query<'/api/admin/v1/accounts'>>[] = [
  { name: 'search', label: accountsText.search, query: (search) => ({ search }) },
  choiceFilter({
    name: 'state',
    label: accountsText.state,
    all: accountsText.allStates,
    values: ['active', 'suspended', 'closed'] as const,
    word: (state) => accountsText.states[state],
  }),
];

export function AccountsPage() {
  return (
    <ListPage
      lead={accountsText.lead}
      actions={
        <DialogButton label={accountsText.create} icon={Plus} variant="primary">
          {(close) => <CreateDialog onClose={close} />}
        </DialogButton>
      }
      noun={accountsText.noun}
      path="/api/admin/v1/accounts"
      query={{ limit: 50 }}
      filters={filters}
      rows={({ accounts }) => accounts}
      rowKey={({ accountId }) => accountId}
      isLinked
      empty={{ icon: Building2, title: accountsText.empty, text: accountsText.emptyAdvice }}
      columns={[
        {
          title: accountsText.account,
          kind: 'head',
          cell: ({ accountId, name }) => (
            <Link href={operatorPaths.account(accountId)} class="row-link">
              {name}
            </Link>
          ),
        },
        { title: accountsText.state, cell: (account) => <AccountState account={account} /> },
        { title: accountsText.balance, kind: 'end', cell: ({ balance }) => formatNumber(balance) },
        {
          title: accountsText.unfinished,
          kind: 'end',
          cell: ({ unfinishedTasks, maxUnfinishedTasks }) => accountsText.ofLimit(unfinishedTasks, maxUnfinishedTasks),
        },
        { title: accountsText.opened, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
      ]}
    />
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { values, field } = useFields({ name: '', credits: '0' });
  const [, navigate] = useLocation();
  return (
    <ActionDialog
      path="/api/admin/v1/accounts"
      title={accountsText.create}
      action={accountsText.create}
      body={() => ({ name: values.name.trim(), credits: Number(values.credits) })}
      done={({ name, balance }) => accountsText.created(name, balance)}
      onDone={({ accountId }) => navigate(operatorPaths.account(accountId))}
      onClose={onClose}
    >
      <p class="soft">{accountsText.createHelp}</p>
      <TextField label={accountsText.name} autocomplete="off" required maxLength={200} {...field('name')} />
      <TextField label={accountsText.openingCredits} type="number" min={0} step={1} required {...field('credits')} />
    </ActionDialog>
  );
}
