import type { Answer, Query } from '../../../api/call.ts';
import { useRead } from '../../../api/read-and-send-hooks.ts';
import { useAccount, useIsOperatorPage } from '../../../api/session.ts';
import { outcomeOfFailCode } from '../../../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { filtersWithoutFullIndex } from '../../../../tasks/list/filters-without-index.ts';
import { shortId } from '../../../ui/controls/short-id.ts';
import { presetOrDateRangeFilters } from '../../../ui/forms/date-range-filters.tsx';
import {
  choiceFilter,
  type Filter,
  useUrlParameters,
  useFilters,
} from '../../../ui/lists/filter-bar-and-url-parameters.tsx';
import { formatNumber } from '../../../ui/number-formats.tsx';
import { accountFilter } from '../../accounts/account-search-and-filter.tsx';
import { failCodes, describeFailCode, stateFilters, tasksText } from '../tasks-text.ts';

export type TaskListPath = '/api/v1/jobs/listTasks' | '/api/admin/v1/tasks';
export type TaskFilter = Filter<Query<TaskListPath>>;

type CountPath = '/api/v1/jobs/countTasks' | '/api/admin/v1/tasks/counts';
type Counts = Answer<CountPath>['counts'];

// Every parameter of the service's list, but for its page, has its filter here, or does not compile: `to` is set with `from`, and
// `outcome` with `state`.
type CountParameter = Exclude<keyof Query<'/api/admin/v1/tasks/counts'>, 'to'>;
type ListParameter = Exclude<
  keyof Query<'/api/admin/v1/tasks'>,
  CountParameter | 'to' | 'outcome' | 'cursor' | 'limit'
>;

/** The filters of the area, with the number of tasks in each state that match the others. */
export function useTaskFilters(): readonly TaskFilter[] {
  const { from, ...others } = useOtherFilters();
  const shared = Object.values(others).flat();
  const counts = useCounts([...shared, ...from]);
  const failCode = failureFilter(useUrlParameters().get('state'));
  const { state, ...own }: Record<ListParameter, TaskFilter> = { state: stateFilter(counts), failCode };
  return [state, ...shared, ...Object.values(own), ...from];
}

/** Without an account, the service searches at most seven days for what has no index. */
function useOtherFilters(): Readonly<Record<CountParameter, readonly TaskFilter[]>> {
  const isOperator = useIsOperatorPage();
  const { get } = useUrlParameters();
  const names = useNames();
  const creators = useCreators();
  const isOfAll = isOperator && get(accountFilter.name) === undefined;
  const filters = {
    search: [
      {
        name: 'search',
        label: isOfAll ? tasksText.searchId : tasksText.search,
        query: (text: string) => ({ search: text }),
      },
    ],
    accountId: isOperator ? [accountFilter] : [],
    model: [
      choiceFilter({
        name: 'model',
        label: tasksText.model,
        all: tasksText.allModels,
        values: names.models,
        given: get('model'),
      }),
    ],
    provider: isOperator
      ? [
          choiceFilter({
            name: 'provider',
            label: tasksText.provider,
            all: tasksText.allProviders,
            values: names.providers,
            given: get('provider'),
          }),
        ]
      : [],
    createdBy: [isOperator ? creatorChip : creatorFilter(creators, get('createdBy'))],
  } satisfies Readonly<Record<Exclude<CountParameter, 'from'>, readonly TaskFilter[]>>;
  const unindexed: readonly TaskFilter[] = filtersWithoutFullIndex.flatMap(
    (name): readonly TaskFilter[] => filters[name],
  );
  const isLimited = isOfAll && unindexed.some(({ name }) => get(name) !== undefined);
  const period = isLimited
    ? limited(presetOrDateRangeFilters(tasksText.created, tasksText.customWeek))
    : presetOrDateRangeFilters(tasksText.created);
  return { ...filters, from: period };
}

const countsMs = 15_000;

/** The list does not wait for them. */
function useCounts(filters: readonly TaskFilter[]): Counts | undefined {
  const path: CountPath = useIsOperatorPage() ? '/api/admin/v1/tasks/counts' : '/api/v1/jobs/countTasks';
  const { query } = useFilters(filters);
  return useRead(path, query, { keeps: true, everyMs: countsMs }).data?.counts;
}

function stateFilter(counts: Counts | undefined): TaskFilter {
  const known: Readonly<Record<string, Counts[keyof Counts] | undefined>> = counts ?? {};
  const all = counts && Object.values(counts);
  const sum = all && {
    tasks: all.reduce((total, { tasks }) => total + tasks, 0),
    isExact: all.every(({ isExact }) => isExact),
  };
  return {
    name: 'state',
    label: tasksText.states,
    control: 'tabs',
    options: [
      { value: '', label: tasksText.all, count: countWord(sum) },
      ...stateFilters.map(({ value, label }) => ({ value, label, count: countWord(known[value]) })),
    ],
    query: (value) => stateFilters.find((one) => one.value === value)?.query ?? {},
  };
}

/** "10,000+" of a count that the service cut. */
function countWord(count: Counts[keyof Counts] | undefined): string | undefined {
  if (count === undefined || count.tasks === 0) return undefined;
  return `${formatNumber(count.tasks)}${count.isExact ? '' : '+'}`;
}

type Creator = { readonly value: string; readonly label: string };

const creatorQuery = {
  name: 'createdBy',
  label: tasksText.createdBy,
  query: (createdBy: string) => ({ createdBy }),
} as const;

/** Operators filter by the creator of a task that they see. */
const creatorChip: TaskFilter = { ...creatorQuery, control: 'chip', chip: (id) => tasksText.createdByOne(shortId(id)) };

/** A key or person that is no longer in the account stays a choice. */
function creatorFilter(creators: readonly Creator[], given: string | undefined): TaskFilter {
  const isKnown = given === undefined || creators.some(({ value }) => value === given);
  const others = isKnown ? [] : [{ value: given, label: shortId(given) }];
  return { ...creatorQuery, options: [{ value: '', label: tasksText.anyone }, ...creators, ...others] };
}

function failureFilter(state: string | undefined): TaskFilter {
  const codes = failCodes.filter((code) => state === undefined || outcomeOfFailCode(code) === state);
  return choiceFilter({
    name: 'failCode',
    label: tasksText.failure,
    all: tasksText.anyFailure,
    values: codes,
    word: (code) => describeFailCode(code).title,
    isHidden: () => codes.length <= 1,
  });
}

function limited([period, ...days]: readonly TaskFilter[]): readonly TaskFilter[] {
  if (period === undefined) return [];
  const { options = [] } = period;
  const week = options.find(({ value }) => value === '7d');
  const others = options.filter(({ value }) => ['1h', '1d', 'range'].includes(value));
  return [{ ...period, options: [{ value: '', label: week?.label ?? '' }, ...others] }, ...days];
}

/** Returns the names that tasks can be filtered by. */
function useNames() {
  const isOperator = useIsOperatorPage();
  const own = useRead('/api/v1/models', {}, { isEnabled: !isOperator });
  const priced = useRead('/api/admin/v1/prices', { limit: 1 }, { isEnabled: isOperator });
  const upstream = useRead('/api/admin/v1/providers', {}, { isEnabled: isOperator });
  const models = ((isOperator ? priced : own).data?.models ?? []).map(({ model }) => model);
  const providers = (upstream.data?.providers ?? []).map(({ provider }) => provider);
  return { models, providers };
}

/** The people of the account, and its keys for those who may list them. */
function useCreators(): readonly Creator[] {
  const isOperator = useIsOperatorPage();
  const { role } = useAccount();
  const people = useRead('/api/console/v1/members', {}, { isEnabled: !isOperator });
  const keys = useRead('/api/v1/keys', {}, { isEnabled: !isOperator && role === 'owner' });
  return [
    ...(people.data?.members ?? []).map(({ userId, email }) => ({ value: userId, label: email })),
    ...(keys.data?.keys ?? []).map(({ keyId, name }) => ({ value: keyId, label: tasksText.keyNamed(name) })),
  ];
}
