import type { Trends } from '../../api/contract.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { Server } from '../../ui/controls/icons.ts';
import { LineChart } from '../../ui/charts/line-chart.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { seriesColorVariables } from '../credits/day-chart.tsx';
import { bucketNames } from './trend-ranges-and-bucket-labels.ts';
import { percent } from './percent.ts';
import { trendsText } from './trends-text.ts';

/** Each line needs a color of its own. */
const maxLines = seriesColorVariables.length;

/** The error rate and the latency of each provider; charts show those with the most jobs. */
export function ProviderTrends({ trends }: { readonly trends: Trends }) {
  const providers = trends.providers.toSorted((a, b) => b.jobs - a.jobs);
  const names = bucketNames(trends);
  const lines = (of: 'errorRate' | 'p50Ms') =>
    providers.slice(0, maxLines).map(({ provider, buckets }, index) => ({
      label: provider,
      color: `var(${seriesColorVariables[index] ?? '--accent'})`,
      values: buckets.map((bucket) => bucket[of]),
    }));
  return (
    <>
      {providers.length > 0 && (
        <div class="columns">
          <Card title={trendsText.providerErrors} isFlush>
            <LineChart
              label={trendsText.providerErrors}
              names={names}
              top={1}
              format={percent}
              lines={lines('errorRate')}
            />
          </Card>
          <Card title={trendsText.providerLatency} isFlush>
            <LineChart
              label={trendsText.providerLatency}
              names={names}
              format={formatDuration}
              lines={lines('p50Ms')}
            />
          </Card>
        </div>
      )}
      <TableCard
        title={trendsText.providers}
        none={<Empty icon={Server} title={trendsText.noJobs} text={trendsText.noJobsAdvice} />}
        rows={providers}
        rowKey={({ provider }) => provider}
        columns={[
          { title: trendsText.provider, kind: 'head', cell: ({ provider }) => <code>{provider}</code> },
          { title: trendsText.jobs, kind: 'end', cell: ({ jobs }) => formatNumber(jobs) },
          { title: trendsText.errors, kind: 'end', cell: ({ errors }) => formatNumber(errors) },
          { title: trendsText.errorRate, kind: 'end', cell: ({ errorRate }) => percent(errorRate) },
          { title: trendsText.refused, kind: 'end', cell: ({ refused }) => formatNumber(refused) },
          { title: trendsText.median, kind: 'end', cell: ({ p50Ms }) => formatDuration(p50Ms) },
          { title: trendsText.p95, kind: 'end', cell: ({ p95Ms }) => formatDuration(p95Ms) },
        ]}
      />
    </>
  );
}
