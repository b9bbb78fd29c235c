import type { UsageGroupDay } from '../../api/contract.ts';
import { BarChart, type Series } from '../../ui/chart.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { dayMs } from '../../ui/time.tsx';
import { dayOf, FiguresTable, seriesColors, shortDay } from '../credits/day-chart.tsx';
import type { Report } from './usage-models.tsx';
import { usageText } from './usage-text.ts';

export const groups = ['model', 'key', 'person'] as const;
export type Group = (typeof groups)[number];
export const measures = ['credits', 'tasks'] as const;
export type Measure = (typeof measures)[number];

type ChartProps = {
  readonly report: Report | undefined;
  readonly by: Group;
  readonly measure: Measure;
  readonly fromMs: number;
  readonly count: number;
};

/** Each day as a bar of groups: one color each for those with most, and the last color for all others. */
export function UsageChart({ report, by, measure, fromMs, count }: ChartProps) {
  const title = usageText.chartOf[measure][by];
  const days = Array.from({ length: count }, (_day, index) => dayOf(fromMs + index * dayMs));
  return (
    <Card title={title} isFlush>
      {report === undefined ? (
        <div class="body">
          <Skeleton height="240px" />
        </div>
      ) : (
        <Days title={title} days={days} series={seriesOf(report.days, days, by, measure)} unit={usageText[measure]} />
      )}
    </Card>
  );
}

type DaysProps = {
  readonly title: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly unit: string;
};

function Days({ title, days, series, unit }: DaysProps) {
  return (
    <>
      <BarChart label={title} names={days.map(shortDay)} series={series} unit={unit} />
      <FiguresTable caption={title} names={days} series={series} />
    </>
  );
}

function seriesOf(
  rows: readonly UsageGroupDay[],
  days: readonly string[],
  by: Group,
  measure: Measure,
): readonly Series[] {
  const labelOf = ({ id, name, isRest }: UsageGroupDay) =>
    isRest ? usageText.others : (name ?? id ?? usageText.unnamed[by]);
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(labelOf(row), (sums.get(labelOf(row)) ?? 0) + row[measure]);
  const ranked = [...sums].filter(([label]) => label !== usageText.others).toSorted(([, a], [, b]) => b - a);
  const isFew = ranked.length === sums.size && ranked.length <= seriesColors.length;
  const own = ranked.slice(0, isFew ? seriesColors.length : seriesColors.length - 1).map(([label]) => label);
  const labels = isFew ? own : [...own, usageText.others];
  return labels.map((label, index): Series => {
    const isOf = (row: UsageGroupDay) => (index < own.length ? labelOf(row) === label : !own.includes(labelOf(row)));
    const values = days.map((day) =>
      rows.filter((row) => row.day === day && isOf(row)).reduce((sum, row) => sum + row[measure], 0),
    );
    return { label, color: `var(${seriesColors[index] ?? '--accent'})`, values };
  });
}
