import { searchOf } from '../../api/call.ts';
import { download } from '../../api/download.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { useAddress } from '../../ui/filters.tsx';
import { ChartColumn, Download } from '../../ui/icons.ts';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { dayMs, useNow } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { figure } from '../credits/credits-page.tsx';
import { dayOf } from '../credits/day-chart.tsx';
import { type Group, groups, type Measure, measures, UsageChart } from './usage-chart.tsx';
import { ModelsCard, rateOf, type Report } from './usage-models.tsx';
import { usageText } from './usage-text.ts';

const spans = (['7', '30', '90'] as const).map((value) => ({ value, label: usageText.spans[value] }));
/** The report adds up many tasks, so it is read seldom. */
const reportMs = 60_000;

export function UsagePage() {
  const { get, set } = useAddress();
  const days = spans.find(({ value }) => value === get('days'))?.value ?? '30';
  const by: Group = groups.find((one) => one === get('by')) ?? 'model';
  const measure: Measure = measures.find((one) => one === get('of')) ?? 'credits';
  const today = Math.floor(useNow(60_000) / dayMs) * dayMs;
  const fromMs = today - (Number(days) - 1) * dayMs;
  const query = { from: dayOf(fromMs), to: dayOf(today), by };
  const { data, error, refetch } = useRead('/api/v1/usage', query, { keeps: true, everyMs: reportMs });
  return (
    <Page
      lead={usageText.lead}
      actions={
        <>
          <FilterSelect
            label={usageText.period}
            value={days}
            options={spans}
            onValue={(value) => set({ days: value === '30' ? undefined : value })}
          />
          <FilterSelect
            label={usageText.by}
            value={by}
            options={groups.map((value) => ({ value, label: usageText.groups[value] }))}
            onValue={(value) => set({ by: value === 'model' ? undefined : value })}
          />
          <FilterSelect
            label={usageText.measure}
            value={measure}
            options={measures.map((value) => ({ value, label: usageText.measures[value] }))}
            onValue={(value) => set({ of: value === 'credits' ? undefined : value })}
          />
          <SaveButton query={query} />
        </>
      }
    >
      {error !== null && data === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.models.length === 0 ? (
        <NoUsage />
      ) : (
        <>
          <Figures report={data} days={days} />
          <UsageChart report={data} by={by} measure={measure} fromMs={fromMs} count={Number(days)} />
          <ModelsCard report={data} />
        </>
      )}
    </Page>
  );
}

function Figures({ report, days }: { readonly report: Report | undefined; readonly days: string }) {
  const total = (of: 'tasks' | 'succeeded' | 'failed' | 'credits') =>
    report?.models.reduce((sum, model) => sum + model[of], 0);
  const [tasks, credits] = [total('tasks'), total('credits')];
  const rate = rateOf({ succeeded: total('succeeded') ?? 0, failed: total('failed') ?? 0 });
  return (
    <Tiles
      tiles={[
        { label: usageText.spent, value: figure(credits), note: usageText.afterRefunds },
        { label: usageText.created, value: figure(tasks), note: usageText.inDays(days) },
        {
          label: usageText.successRate,
          value: report === undefined ? <Skeleton width="60%" height="26px" /> : rate,
          note: usageText.ofEnded,
        },
        {
          label: usageText.perTask,
          value: figure(tasks && credits !== undefined ? Math.round(credits / tasks) : tasks),
          note: usageText.onAverage,
        },
      ]}
    />
  );
}

/** The rows of the chart, with every group. */
function SaveButton({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { accountId } = useAccount();
  const name = `usage-${query['from'] ?? ''}-${query['to'] ?? ''}.csv`;
  const save = () =>
    download(`/api/v1/usage/export${searchOf(query)}`, accountId, name).catch((error: unknown) =>
      toast(failureOf(error).sentence, 'bad'),
    );
  return (
    <Button onClick={() => void save()}>
      <Download size={16} aria-hidden="true" /> {usageText.csv}
    </Button>
  );
}

function NoUsage() {
  const { accountId } = useAccount();
  return (
    <Empty icon={ChartColumn} title={usageText.empty}>
      <p>{usageText.emptyAdvice}</p>
      <div class="row">
        <LinkButton href={paths.playground(accountId)}>{usageText.playground}</LinkButton>
      </div>
    </Empty>
  );
}
