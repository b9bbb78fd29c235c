import { Film, Plus } from '../../ui/icons.ts';
import { Pause, Play, SearchX } from './icons.ts';
import { useState } from 'preact/hooks';
import type { TaskRecord } from '../../api/contract.ts';
import { failOutcome } from '../../../tasks/fail-code.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { NewRows } from '../../ui/new-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { useSteadyList } from '../../ui/steady-list.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { useShownNow } from '../../ui/shown-now.ts';
import { failCodes, failWords, taskFilters } from '../../words.ts';
import { useFirstRequest } from './samples.ts';
import { TaskTable } from './task-table.tsx';
import { isLive } from './use-task.ts';

/** Since when, as the address has it. */
const spans = [
  { value: '', label: 'Any time' },
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
] as const;
const spanMs: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
};

const taskIdOf = ({ taskId }: TaskRecord) => taskId;

export function TasksPage() {
  const { accountId } = useAccount();
  const [isPaused, setPaused] = useState(false);
  const filters = useFilters(isPaused);
  const {
    data,
    error,
    refetch,
    isPlaceholderData: isOfBefore,
  } = useRead('/api/v1/jobs/listTasks', filters.query, {
    keeps: true,
    everyMs: (page) => (isPaused ? false : page === undefined || page.tasks.some(isLive) ? 3000 : 15_000),
  });
  // The time from which on tasks are shown goes on; that is no other filter.
  const filter = JSON.stringify({ ...filters.query, from: filters.since });
  const { rows: tasks, added, showAdded } = useSteadyList({ rows: data?.tasks, isOfBefore }, taskIdOf, filter);
  return (
    <Page
      title="Tasks"
      lead="Every video that was requested, newest first."
      actions={
        <>
          <Button look="quiet" onClick={() => setPaused(!isPaused)} aria-pressed={isPaused}>
            {isPaused ? <Play size={16} aria-hidden="true" /> : <Pause size={16} aria-hidden="true" />}
            {isPaused ? 'Go on' : 'Pause'}
          </Button>
          <LinkButton href={paths.playground(accountId)} look="primary">
            <Plus size={16} aria-hidden="true" /> New video
          </LinkButton>
        </>
      }
    >
      <Filters {...filters} />
      {error !== null && data === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : tasks?.length === 0 ? (
        <NoTasks isFiltered={filters.isFiltered} />
      ) : (
        <NewRows added={added} one="new task" many="new tasks" onShow={showAdded}>
          <TaskTable tasks={tasks} expected={8} />
        </NewRows>
      )}
      <Pager nextCursor={data?.nextCursor} what="tasks" />
    </Page>
  );
}

type FilterState = ReturnType<typeof useFilters>;

/** The filters, which live in the address. */
function useFilters(isPaused: boolean) {
  const { get, set, hrefWith } = useAddress();
  const state = taskFilters.find(({ value }) => value === get('state'));
  const failCode = failCodes.find((code) => code === get('failCode'));
  const since = get('since') ?? '';
  const [search, model, cursor] = [get('search'), get('model'), get('cursor')];
  // To the minute, so that the query stays the same from one render to the next.
  const now = useShownNow(isPaused);
  const from = spanMs[since] === undefined ? undefined : Math.floor((now - spanMs[since]) / 60_000) * 60_000;
  const query = {
    limit: 30,
    ...state?.query,
    ...(failCode !== undefined && { failCode }),
    ...(model !== undefined && { model }),
    ...(search !== undefined && { search }),
    ...(from !== undefined && { from }),
    ...(cursor !== undefined && { cursor }),
  };
  const isFiltered = [state, failCode, model, search, from].some((value) => value !== undefined);
  return { query, state: state?.value, isFiltered, search, since, set, hrefWith };
}

function Filters({ query, state, search = '', since, set, hrefWith, isFiltered }: FilterState) {
  const { data: catalogue } = useRead('/api/v1/models', {});
  const { failCode, model = '' } = query;
  // The chosen one also before the others are known, and when it is no longer sold.
  const names = new Set([...(catalogue?.models ?? []).map((one) => one.model), ...(model === '' ? [] : [model])]);
  const models = [...names].map((name) => ({ value: name, label: name }));
  const tab = (value: string | undefined, label: string) => ({
    href: hrefWith({ state: value, failCode: undefined }),
    label,
    isCurrent: state === value,
  });
  return (
    <div class="stack">
      <Tabs
        label="States"
        tabs={[tab(undefined, 'All'), ...taskFilters.map(({ value, label }) => tab(value, label))]}
      />
      <div class="filters">
        <SearchField label="Prompt or task ID" value={search} onValue={(value) => set({ search: value })} />
        <FilterSelect
          label="Model"
          value={model}
          options={[{ value: '', label: 'All models' }, ...models]}
          onValue={(value) => set({ model: value })}
        />
        {(state === 'failed' || state === 'rejected') && (
          <FilterSelect
            label="Reason of the failure"
            value={failCode ?? ''}
            options={[
              { value: '', label: 'Any reason' },
              ...failCodes
                .filter((code) => failOutcome(code) === state)
                .map((code) => ({ value: code, label: failWords[code].title })),
            ]}
            onValue={(value) => set({ failCode: value })}
          />
        )}
        <FilterSelect label="Created" value={since} options={spans} onValue={(value) => set({ since: value })} />
        {isFiltered && (
          <Button
            look="quiet"
            onClick={() =>
              set({ state: undefined, failCode: undefined, model: undefined, search: undefined, since: undefined })
            }
          >
            Clear
          </Button>
        )}
      </div>
    </div>
  );
}

function NoTasks({ isFiltered }: { readonly isFiltered: boolean }) {
  const { accountId } = useAccount();
  const { set } = useAddress();
  const first = useFirstRequest();
  if (isFiltered) {
    return (
      <Empty icon={SearchX} title="No task matches">
        <p>Nothing that was asked for fits these filters.</p>
        <div class="row">
          <Button
            onClick={() =>
              set({ state: undefined, failCode: undefined, model: undefined, search: undefined, since: undefined })
            }
          >
            Clear the filters
          </Button>
        </div>
      </Empty>
    );
  }
  return (
    <Empty icon={Film} title="No tasks yet">
      <p>Each video is one task: it is charged when it is accepted, and refunded in full when it fails.</p>
      <div class="row">
        <LinkButton href={paths.playground(accountId)} look="primary">
          Make the first video
        </LinkButton>
      </div>
      <CodeBlock wraps samples={[first]} />
    </Empty>
  );
}
