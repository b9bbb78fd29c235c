import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StackedDaysChartAndTable } from '../credits/day-chart.tsx';
import type { UsageReport } from './model-usage-card.tsx';
import { usageText } from './usage-text.ts';

export const usageChartGroups = ['model', 'key', 'person'] as const;
export type UsageChartGroup = (typeof usageChartGroups)[number];
export const usageChartMeasures = ['credits', 'tasks'] as const;
export type UsageChartMeasure = (typeof usageChartMeasures)[number];

type ChartProps = {
  readonly report: UsageReport | undefined;
  readonly by: UsageChartGroup;
  readonly measure: UsageChartMeasure;
  readonly fromMs: number;
  readonly count: number;
};

/** Each day as a bar of groups. */
export function UsageChart({ report, by, measure, fromMs, count }: ChartProps) {
  const title = usageText.chartOf[measure][by];
  const rows = report?.days.map((row) => ({
    day: row.day,
    label: row.isRest ? undefined : (row.name ?? row.id ?? usageText.unnamed[by]),
    value: row[measure],
  }));
  return (
    <Card title={title} isFlush>
      {rows === undefined ? (
        <div class="body">
          <Skeleton height="240px" />
        </div>
      ) : (
        <StackedDaysChartAndTable title={title} rows={rows} fromMs={fromMs} count={count} unit={usageText[measure]} />
      )}
    </Card>
  );
}
