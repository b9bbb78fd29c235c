import type { Trends } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { BarChart } from '../../ui/chart.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { useChoice } from '../../ui/filters.tsx';
import { LineChart } from '../../ui/line-chart.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { moneyOf, number } from '../../ui/money.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card, Tiles } from '../../ui/page.tsx';
import { duration } from '../../ui/time.tsx';
import { namesOf, ranges } from './buckets.ts';
import { percent } from './percent.ts';
import { ProviderTrends } from './provider-trends.tsx';
import { TopAccounts } from './top-accounts.tsx';
import { trendsText } from './trends-text.ts';
import './trends.css';

/** The sums read many tasks, so they are renewed seldom. */
const renewedMs = 60_000;
const options = ranges.map((value) => ({ value, label: trendsText.ranges[value] }));

/** Figures of the installation over time. */
export function TrendsSection() {
  const [range, setRange] = useChoice('range', ranges, 'day');
  const trends = useRead('/api/admin/v1/trends', { range }, { everyMs: renewedMs, keeps: true });
  return (
    <section class="stack trends" aria-label={trendsText.title}>
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
      {isPartial && <Notice>{trendsText.partial(200_000)}</Notice>}
      <TotalTiles trends={trends} />
      <Charts trends={trends} />
      <ProviderTrends trends={trends} />
    </>
  );
}

function TotalTiles({ trends: { total, currency, paid } }: FiguresProps) {
  const money = (micros: number) => moneyOf(micros, currency);
  const payments = paid.map((one) =>
    trendsText.paid(moneyOfUnits(one.minorUnits - one.returnedMinorUnits, one.currency), one.isTest),
  );
  return (
    <Tiles
      tiles={[
        { label: trendsText.created, value: number(total.created), note: trendsText.tasks },
        {
          label: trendsText.successRate,
          value: total.successRate === null ? '–' : percent(total.successRate),
          note: trendsText.ofEnded(total.failed),
        },
        {
          label: trendsText.latency,
          value: total.p50Ms === null ? '–' : duration(total.p50Ms),
          note: total.p95Ms === null ? trendsText.noneYet : trendsText.p95Is(duration(total.p95Ms)),
        },
        {
          label: trendsText.credits,
          value: number(total.credits),
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

/** An amount in the smallest unit of its currency. */
function moneyOfUnits(minorUnits: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.format(minorUnits / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

function Charts({ trends }: FiguresProps) {
  const { buckets, currency } = trends;
  const names = namesOf(trends);
  const money = (micros: number) => moneyOf(micros, currency);
  return (
    <div class="columns">
      <Card title={trendsText.volume} isFlush>
        <BarChart
          label={trendsText.volume}
          names={names}
          unit={trendsText.tasks}
          series={[
            {
              label: trendsText.succeeded,
              color: 'var(--series-2)',
              values: buckets.map(({ succeeded }) => succeeded),
            },
            { label: trendsText.failed, color: 'var(--series-5)', values: buckets.map(({ failed }) => failed) },
          ]}
        />
      </Card>
      <Card title={trendsText.successRate} isFlush>
        <LineChart
          label={trendsText.successRate}
          names={names}
          top={1}
          format={percent}
          lines={[
            {
              label: trendsText.successRate,
              color: 'var(--series-2)',
              values: buckets.map(({ successRate }) => successRate),
            },
          ]}
        />
      </Card>
      <Card title={trendsText.latency} isFlush>
        <LineChart
          label={trendsText.latency}
          names={names}
          format={duration}
          lines={[
            { label: trendsText.median, color: 'var(--series-1)', values: buckets.map(({ p50Ms }) => p50Ms) },
            { label: trendsText.p95, color: 'var(--series-3)', values: buckets.map(({ p95Ms }) => p95Ms) },
          ]}
        />
      </Card>
      <Card title={trendsText.money} isFlush>
        <LineChart
          label={trendsText.money}
          names={names}
          format={money}
          lines={[
            { label: trendsText.revenue, color: 'var(--series-1)', values: buckets.map((one) => one.revenueMicros) },
            { label: trendsText.cost, color: 'var(--series-5)', values: buckets.map((one) => one.costMicros) },
            { label: trendsText.margin, color: 'var(--series-2)', values: buckets.map((one) => one.marginMicros) },
          ]}
        />
      </Card>
    </div>
  );
}
