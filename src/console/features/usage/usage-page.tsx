import { queryStringOf } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { LinkButton } from '../../ui/controls/button.tsx';
import { DownloadButton } from '../../ui/controls/download-button.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { useChoiceInUrl } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { ChartColumn } from '../../ui/controls/icons.ts';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { figureOrSkeleton } from '../credits/credits-page.tsx';
import { utcDayOf } from '../credits/day-chart.tsx';
import { useDayRange } from '../credits/use-day-range.tsx';
import { usageChartGroups, usageChartMeasures, UsageChart } from './usage-chart.tsx';
import { ModelUsageCard, formatSuccessRate, type UsageReport } from './model-usage-card.tsx';
import { usageText } from './usage-text.ts';

const groupOptions = usageChartGroups.map((value) => ({ value, label: usageText.groups[value] }));
const measureOptions = usageChartMeasures.map((value) => ({ value, label: usageText.measures[value] }));
/** The report adds up many tasks, so it is read seldom. */
const reportMs = 60_000;

export function UsagePage() {
  const { days, fromMs, today, select } = useDayRange();
  const [by, setBy] = useChoiceInUrl('by', usageChartGroups, 'model');
  const [measure, setMeasure] = useChoiceInUrl('of', usageChartMeasures, 'credits');
  const query = { from: utcDayOf(fromMs), to: utcDayOf(today), by };
  const report = useRead('/api/v1/usage', query, { keeps: true, everyMs: reportMs });
  const { data } = report;
  return (
    <Page
      lead={usageText.lead}
      actions={
        <>
          {select}
          <FilterSelect label={usageText.by} value={by} options={groupOptions} onValue={setBy} />
          <FilterSelect label={usageText.measure} value={measure} options={measureOptions} onValue={setMeasure} />
          <SaveButton query={query} />
        </>
      }
    >
      {data === undefined && report.error !== null ? (
        <ReadErrorBox of={report} />
      ) : data?.models.length === 0 ? (
        <NoUsage />
      ) : (
        <>
          <Figures report={data} days={days} />
          <UsageChart report={data} by={by} measure={measure} fromMs={fromMs} count={Number(days)} />
          <ModelUsageCard report={data} />
        </>
      )}
    </Page>
  );
}

function Figures({ report, days }: { readonly report: UsageReport | undefined; readonly days: string }) {
  const total = (of: 'tasks' | 'succeeded' | 'failed' | 'credits') =>
    report?.models.reduce((sum, model) => sum + model[of], 0);
  const [tasks, credits] = [total('tasks'), total('credits')];
  const rate = formatSuccessRate({ succeeded: total('succeeded') ?? 0, failed: total('failed') ?? 0 });
  return (
    <Tiles
      tiles={[
        { label: usageText.spent, value: figureOrSkeleton(credits), note: usageText.afterRefunds },
        { label: usageText.created, value: figureOrSkeleton(tasks), note: usageText.inDays(days) },
        {
          label: usageText.successRate,
          value: report === undefined ? <Skeleton width="60%" height="26px" /> : rate,
          note: usageText.ofEnded,
        },
        {
          label: usageText.perTask,
          value: figureOrSkeleton(tasks && credits !== undefined ? Math.round(credits / tasks) : tasks),
          note: usageText.onAverage,
        },
      ]}
    />
  );
}

/** The rows of the chart, with every group. */
function SaveButton({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const name = `usage-${query['from'] ?? ''}-${query['to'] ?? ''}.csv`;
  const address = `/api/v1/usage/export${queryStringOf(query)}`;
  return <DownloadButton address={address} name={name} label={usageText.csv} />;
}

function NoUsage() {
  const { accountId } = useAccount();
  return (
    <Empty icon={ChartColumn} title={usageText.empty} text={usageText.emptyAdvice}>
      <div class="row">
        <LinkButton href={accountPaths.playground(accountId)}>{usageText.playground}</LinkButton>
      </div>
    </Empty>
  );
}
