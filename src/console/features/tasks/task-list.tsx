import { useMemo } from 'preact/hooks';
import type { Query } from '../../api/call.ts';
import { useRead } from '../../api/queries.ts';
import { useAccount, useIsOperator } from '../../api/session.ts';
import { failOutcome } from '../../../tasks/fail-code.ts';
import { paths } from '../../paths.ts';
import { LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { type Filter, periodFilter, useAddress } from '../../ui/filters.tsx';
import { Film } from '../../ui/icons.ts';
import { List } from '../../ui/list.tsx';
import { AccountSearch } from '../accounts/account-search.tsx';
import { useFirstRequest } from '../playground/request-samples.ts';
import { accountColumn, taskColumns } from './task-table.tsx';
import { failCodes, failWord, stateFilters, tasksText } from './tasks-text.ts';
import { isLive } from './use-task.ts';

type ListPath = '/api/v1/jobs/listTasks' | '/api/admin/v1/tasks';
type TaskFilter = Filter<Query<ListPath>>;

const [headColumn, ...otherColumns] = taskColumns;
const columnsOfOperators = [...(headColumn === undefined ? [] : [headColumn]), accountColumn, ...otherColumns];

/** Tasks of the account, or for operators of all accounts or of the one that is given. */
export function TaskList({ accountId }: { readonly accountId?: string }) {
  const isOperator = useIsOperator();
  const isOfAll = isOperator && accountId === undefined;
  const filters = useTaskFilters();
  const path: ListPath = isOperator ? '/api/admin/v1/tasks' : '/api/v1/jobs/listTasks';
  return (
    <List
      noun={tasksText.noun}
      path={path}
      query={{ limit: 30, ...(accountId !== undefined && { accountId }) }}
      rows={({ tasks }) => tasks}
      rowKey={({ taskId }) => taskId}
      columns={isOfAll ? columnsOfOperators : taskColumns}
      {...(accountId === undefined && { filters })}
      isLinked
      expected={8}
      everyMs={(page) => (page?.tasks.some(isLive) === false ? 15_000 : 3000)}
      empty={{
        icon: Film,
        title: tasksText.emptyTitle,
        children: isOperator ? <p>{tasksText.emptyOfAccount}</p> : <FirstSteps />,
      }}
    />
  );
}

function FirstSteps() {
  const { accountId } = useAccount();
  return (
    <>
      <p>{tasksText.empty}</p>
      <div class="row">
        <LinkButton href={paths.playground(accountId)} variant="primary">
          {tasksText.firstVideo}
        </LinkButton>
      </div>
      <CodeBlock wraps samples={[useFirstRequest()]} />
    </>
  );
}

/** The filters of the area. Of all accounts the service searches a model, a provider or an ID within seven days only. */
function useTaskFilters(): readonly TaskFilter[] {
  const isOperator = useIsOperator();
  const { get } = useAddress();
  const names = useNames();
  const [state, model, provider, account, search] = ['state', 'model', 'provider', 'account', 'search'].map(get);
  const isLimited = isOperator && account === undefined && (model ?? provider ?? search) !== undefined;
  return useMemo(
    () => [
      stateFilter,
      {
        name: 'search',
        label: isOperator && account === undefined ? tasksText.searchId : tasksText.search,
        query: (text: string) => ({ search: text }),
      },
      ...(isOperator ? [accountFilter] : []),
      nameFilter('model', tasksText.model, [tasksText.allModels, ...names.models], model),
      ...(isOperator
        ? [nameFilter('provider', tasksText.provider, [tasksText.allProviders, ...names.providers], provider)]
        : []),
      failureFilter(state),
      isLimited ? limited(periodFilter(tasksText.created)) : periodFilter(tasksText.created),
    ],
    [isOperator, state, model, provider, account, isLimited, names.key],
  );
}

const stateFilter: TaskFilter = {
  name: 'state',
  label: tasksText.states,
  control: 'tabs',
  options: [{ value: '', label: tasksText.all }, ...stateFilters],
  query: (value) => stateFilters.find((one) => one.value === value)?.query ?? {},
};

const accountFilter: TaskFilter = {
  name: 'account',
  label: tasksText.account,
  control: AccountSearch,
  query: (accountId) => ({ accountId }),
};

/** Models or providers. The name in the address stays a choice, also if the service no longer has it. */
function nameFilter(
  name: 'model' | 'provider',
  label: string,
  [all = '', ...names]: readonly string[],
  given: string | undefined,
): TaskFilter {
  const known = [...new Set([...names, ...(given === undefined ? [] : [given])])];
  return {
    name,
    label,
    options: [{ value: '', label: all }, ...known.map((one) => ({ value: one, label: one }))],
    query: (value) => ({ [name]: value }),
  };
}

function failureFilter(state: string | undefined): TaskFilter {
  const codes = failCodes.filter((code) => state === undefined || failOutcome(code) === state);
  return {
    name: 'failCode',
    label: tasksText.failure,
    options: [
      { value: '', label: tasksText.anyFailure },
      ...codes.map((code) => ({ value: code, label: failWord(code).title })),
    ],
    query: (value) => {
      const failCode = failCodes.find((code) => code === value);
      return failCode === undefined ? {} : { failCode };
    },
    isHidden: () => codes.length <= 1,
  };
}

function limited({ options = [], ...filter }: TaskFilter): TaskFilter {
  const week = options.find(({ value }) => value === '7d');
  const shorter = options.filter(({ value }) => value === '1h' || value === '1d');
  return { ...filter, options: [{ value: '', label: week?.label ?? '' }, ...shorter] };
}

/** Returns the names that tasks can be filtered by. */
function useNames() {
  const isOperator = useIsOperator();
  const own = useRead('/api/v1/models', {}, { isEnabled: !isOperator });
  const priced = useRead('/api/admin/v1/prices', { limit: 1 }, { isEnabled: isOperator });
  const upstream = useRead('/api/admin/v1/providers', {}, { isEnabled: isOperator });
  const models = ((isOperator ? priced : own).data?.models ?? []).map(({ model }) => model);
  const providers = (upstream.data?.providers ?? []).map(({ provider }) => provider);
  return { models, providers, key: [...models, '', ...providers].join() };
}
