import type { TaskRecord } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { stateWords } from '../../words.ts';
import { TaskTable } from './task-table.tsx';

const states: readonly { readonly value: TaskRecord['state'] | ''; readonly label: string }[] = [
  { value: '', label: 'All states' },
  ...(['waiting', 'queuing', 'generating', 'success', 'fail'] as const).map((value) => ({
    value,
    label: stateWords[value].word,
  })),
];

const hourMs = 3_600_000;
const periods = [
  { value: '', label: 'Any time', hours: 0 },
  { value: '1', label: 'Last hour', hours: 1 },
  { value: '24', label: 'Last 24 hours', hours: 24 },
  { value: '168', label: 'Last 7 days', hours: 168 },
] as const;

/** Tasks of every account. */
export function TasksPage() {
  const { get, set } = useAddress();
  const state = states.find(({ value }) => value === get('state'))?.value ?? '';
  const accountId = get('account');
  const period = periods.find(({ value }) => value === get('hours')) ?? periods[0];
  // Whole minutes, so that renderings within one minute ask the same.
  const from = period.hours === 0 ? undefined : Math.floor(Date.now() / 60_000) * 60_000 - period.hours * hourMs;
  return (
    <Page title="Tasks" lead="Of every account, newest first.">
      <div class="filters">
        <FilterSelect label="State" value={state} options={states} onValue={(value) => set({ state: value })} />
        <AccountFilter value={accountId ?? ''} onValue={(value) => set({ account: value })} />
        <FilterSelect
          label="Created"
          value={period.value}
          options={periods}
          onValue={(value) => set({ hours: value })}
        />
        {(state !== '' || accountId !== undefined || period.hours !== 0) && (
          <Button look="quiet" onClick={() => set({ state: undefined, account: undefined, hours: undefined })}>
            Clear
          </Button>
        )}
      </div>
      <TaskTable filter={{ accountId, from, state: state === '' ? undefined : state }} />
    </Page>
  );
}

type AccountFilterProps = { readonly value: string; readonly onValue: (accountId: string) => void };

/** The first hundred accounts; tasks of another one are listed on its own page. */
export function AccountFilter({ value, onValue }: AccountFilterProps) {
  const { data } = useRead('/api/admin/v1/accounts', { limit: 100 });
  const known = (data?.accounts ?? []).map(({ accountId, name }) => ({ value: accountId, label: name }));
  const other =
    value === '' || known.some((one) => one.value === value) ? [] : [{ value, label: `…${value.slice(-8)}` }];
  return (
    <FilterSelect
      label="Account"
      value={value}
      options={[{ value: '', label: 'All accounts' }, ...known, ...other]}
      onValue={onValue}
    />
  );
}
