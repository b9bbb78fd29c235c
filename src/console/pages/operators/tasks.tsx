import type { TaskRecord } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { useShownNow } from '../../ui/shown-now.ts';
import { failCodes, failWords, taskFilters } from '../../words.ts';
import { AccountFilter } from './references.tsx';
import { TaskTable } from './task-table.tsx';

type FailCode = NonNullable<TaskRecord['failCode']>;
type Choice<Value extends string> = { readonly value: Value | ''; readonly label: string };

const states: readonly Choice<string>[] = [{ value: '', label: 'All states' }, ...taskFilters];

const outcomes: readonly Choice<FailCode>[] = [
  { value: '', label: 'All outcomes' },
  ...failCodes.map((value) => ({ value, label: failWords[value].title })),
];

const hourMs = 3_600_000;
const periods = [
  { value: '', label: 'Any time', hours: 0 },
  { value: '1', label: 'Last hour', hours: 1 },
  { value: '24', label: 'Last 24 hours', hours: 24 },
  { value: '168', label: 'Last 7 days', hours: 168 },
] as const;

/** Of all accounts the service searches a model, a provider or a part of an id in the last seven days only. */
const limitedPeriods = [
  { value: '', label: 'Last 7 days' },
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
] as const;

const filters = ['search', 'state', 'failCode', 'account', 'model', 'provider', 'hours'] as const;

/** Tasks of every account. What is chosen stands in the address. */
export function TasksPage() {
  const { get, set } = useAddress();
  const state = chosen(states, get('state'));
  const failCode = chosen(outcomes, get('failCode'));
  const period = periods.find(({ value }) => value === get('hours')) ?? periods[0];
  const [search, account, model, provider] = [get('search'), get('account'), get('model'), get('provider')];
  const isLimited = account === undefined && (model ?? provider ?? search) !== undefined;
  const now = useShownNow();
  const from = period.hours === 0 ? undefined : now - period.hours * hourMs;
  return (
    <Page title="Tasks" lead="Of every account, newest first.">
      <div class="filters">
        <SearchField
          label={account === undefined ? 'Task ID' : 'Prompt or task ID'}
          value={search ?? ''}
          onValue={(value) => set({ search: value })}
        />
        <FilterSelect label="State" value={state} options={states} onValue={(value) => set({ state: value })} />
        <FilterSelect
          label="Failure"
          value={failCode}
          options={outcomes}
          onValue={(value) => set({ failCode: value })}
        />
        <AccountFilter value={account ?? ''} onValue={(value) => set({ account: value })} />
        <ModelFilter value={model ?? ''} onValue={(value) => set({ model: value })} />
        <ProviderFilter value={provider ?? ''} onValue={(value) => set({ provider: value })} />
        <FilterSelect
          label="Created"
          value={period.value}
          options={isLimited ? limitedPeriods : periods}
          onValue={(value) => set({ hours: value })}
        />
        {filters.some((name) => get(name) !== undefined) && (
          <Button look="quiet" onClick={() => set(Object.fromEntries(filters.map((name) => [name, undefined])))}>
            Clear
          </Button>
        )}
      </div>
      <TaskTable
        filter={{
          search,
          ...taskFilters.find(({ value }) => value === state)?.query,
          failCode: failCode === '' ? undefined : failCode,
          accountId: account,
          model,
          provider,
          from,
        }}
      />
    </Page>
  );
}

/** What the address says, if it is one of the choices. */
function chosen<Value extends string>(choices: readonly Choice<Value>[], value: string | undefined): Value | '' {
  return choices.find((one) => one.value === value)?.value ?? '';
}

type FilterProps = { readonly value: string; readonly onValue: (value: string) => void };

function ModelFilter(props: FilterProps) {
  const { data } = useRead('/api/admin/v1/prices', { limit: 1 });
  return <NameFilter {...props} label="Model" all="All models" names={data?.models.map(({ model }) => model)} />;
}

function ProviderFilter(props: FilterProps) {
  const { data } = useRead('/api/admin/v1/providers', {});
  const names = data?.providers.map(({ provider }) => provider);
  return <NameFilter {...props} label="Provider" all="All providers" names={names} />;
}

type NameFilterProps = FilterProps & {
  readonly label: string;
  readonly all: string;
  readonly names: readonly string[] | undefined;
};

/** A name that is in the address stays a choice, also when nothing has it any more. */
function NameFilter({ label, all, names = [], value, onValue }: NameFilterProps) {
  const known = [...new Set([...names, ...(value === '' ? [] : [value])])];
  const options = [{ value: '', label: all }, ...known.map((name) => ({ value: name, label: name }))];
  return <FilterSelect label={label} value={value} options={options} onValue={onValue} />;
}
