import type { Trends } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { useChoiceInUrl } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { LineChart } from '../../ui/charts/line-chart.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatMicros, formatNumber, formatMinorUnits } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Card, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { bucketNames, trendRangeChoices } from './trend-ranges-and-bucket-labels.ts';
import { percent } from './percent.ts';
import { ProviderTrends } from './provider-trends.tsx';
import { TopAccounts } from './top-accounts.tsx';
import { trendsText } from './trends-text.ts';
import './trends.css';

/** The sums read many tasks, so they are renewed seldom. */
const renewedMs = 60_000;
const options = trendRangeChoices.map((value) => ({ value, label: trendsText.ranges[value] }));

/** Figures of the installation over time. */
export function TrendsSection() {
  const [range, setRange] = useChoiceInUrl('range', trendRangeChoices, 'day');
  const trends = useRead('/api/admin/v1/trends', { range }, { everyMs: renewedMs, keeps: true });
  return (
    <section class="stack loose trends" aria-label={trendsText.title}>
      <header class="section-head">
        <h2>{trendsText.title}</h2>
        <FilterSelect label={trendsText.range} value={range} options={options} onValue={setRange} />
        <p class="soft">{trendsText.note}</p>
      </header>
      <Loaded of={trends} heights={[103, 520]}>
        {(data) => <Figures trends={data} />}
      </Loaded>
      <TopAccounts range={range} />
    </section>
  );
}

type FiguresProps = { readonly trends: Trends };

function Figures({ trends }: FiguresProps) {
  const { isPartial } = trends;
  return (
    <>
      {isPartial && <Notice>{trendsText.partial}</Notice>}
      <TotalTiles trends={trends} />
      <Charts trends={trends} />
      <ProviderTrends trends={trends} />
    </>
  );
}

function TotalTiles({ trends: { total, currency, paid } }: FiguresProps) {
  const money = (micros: number) => formatMicros(micros, currency);
  const payments = paid.map((one) =>
    trendsText.paid(formatMinorUnits(one.minorUnits - one.returnedMinorUnits, one.currency), one.isTest),
  );
  return (
    <Tiles
      tiles={[
        { label: trendsText.created, value: formatNumber(total.created), note: trendsText.tasks },
        { label: trendsText.successRate, value: percent(total.successRate), note: trendsText.ofEnded(total.failed) },
        {
          label: trendsText.latency,
          value: formatDuration(total.p50Ms),
          note: total.p95Ms === null ? trendsText.noneYet : trendsText.p95Is(formatDuration(total.p95Ms)),
        },
        {
          label: trendsText.credits,
          value: formatNumber(total.credits),
          note: [trendsText.worth(money(total.revenueMicros)), ...payments].join(', '),
        },
        {
          label: trendsText.margin,
          value: total.marginMicros === null ? trendsText.unknown : money(total.marginMicros),
          note:
            total.unpricedJobs > 0
              ? trendsText.unpriced(total.unpricedJobs)
              : trendsText.costs(money(total.costMicros)),
        },
      ]}
    />
  );
}

function Charts({ trends }: FiguresProps) {
  const { buckets, currency } = trends;
  const names = bucketNames(trends);
  const line = (label: string, series: number, valueOf: (bucket: Trends['buckets'][number]) => number | null) => ({
    label,
    color: `var(--series-${series})`,
    values: buckets.map(valueOf),
  });
  const bars = [
    { label: trendsText.succeeded, color: 'var(--series-2)', values: buckets.map(({ succeeded }) => succeeded) },
    { label: trendsText.failed, color: 'var(--series-5)', values: buckets.map(({ failed }) => failed) },
  ];
  const charts = [
    {
      label: trendsText.successRate,
      top: 1,
      format: percent,
      lines: [line(trendsText.successRate, 2, ({ successRate }) => successRate)],
    },
    {
      label: trendsText.latency,
      format: formatDuration,
      lines: [line(trendsText.median, 1, ({ p50Ms }) => p50Ms), line(trendsText.p95, 3, ({ p95Ms }) => p95Ms)],
    },
    {
      label: trendsText.money,
      format: (micros: number) => formatMicros(micros, currency),
      lines: [
        line(trendsText.revenue, 1, ({ revenueMicros }) => revenueMicros),
        line(trendsText.cost, 5, ({ costMicros }) => costMicros),
        line(trendsText.margin, 2, ({ marginMicros }) => marginMicros),
      ],
    },
  ];
  return (
    <div class="columns">
      <Card title={trendsText.volume} isFlush>
        <BarChart label={trendsText.volume} names={names} unit={trendsText.tasks} series={bars} />
      </Card>
      {charts.map((chart) => (
        <Card key={chart.label} title={chart.label} isFlush>
          <LineChart names={names} {...chart} />
        </Card>
      ))}
    </div>
  );
}
