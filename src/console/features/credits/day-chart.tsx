import type { UsageDay } from '../../api/contract.ts';
import { BarChart, type Series } from '../../ui/charts/bar-chart.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { dayMs } from '../../ui/times-and-durations.tsx';
import { creditsText } from './credits-text.ts';
import './credits.css';

/** As tokens, so that the theme chooses them. */
export const seriesColorVariables = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'];

type DayChartProps = { readonly days: readonly UsageDay[]; readonly fromMs: number; readonly count: number };

/** Charged credits of each day, stacked by model, and as a table. Absent without a charge. */
export function ChargedByDayChart({ days, fromMs, count }: DayChartProps) {
  const charged = days.filter((one) => one.charged > 0);
  if (charged.length === 0) return null;
  const rows = charged.map((one) => ({ day: one.day, label: one.model ?? undefined, value: one.charged }));
  return (
    <Card title={creditsText.chart} isFlush>
      <StackedDaysChartAndTable
        title={creditsText.chart}
        rows={rows}
        fromMs={fromMs}
        count={count}
        unit={creditsText.credits}
      />
    </Card>
  );
}

type StackedRow = { readonly day: string; readonly label: string | undefined; readonly value: number };

type StackedDaysProps = {
  readonly title: string;
  /** Those without a label belong to no group. */
  readonly rows: readonly StackedRow[];
  readonly fromMs: number;
  readonly count: number;
  readonly unit: string;
};

/** Each day as a stacked bar, and as a row of a table. */
export function StackedDaysChartAndTable({ title, rows, fromMs, count, unit }: StackedDaysProps) {
  const names = Array.from({ length: count }, (_day, index) => utcDayOf(fromMs + index * dayMs));
  const series = stacked(rows, names);
  return (
    <>
      <BarChart label={title} names={names.map(shortDay)} series={series} unit={unit} />
      <FiguresTable caption={title} names={names} series={series} />
    </>
  );
}

/**
 * One color each for the groups with most; the last color for all others, and for rows without a label. Every page ranks them in this way,
 * so that a model has the same color on each.
 */
function stacked(rows: readonly StackedRow[], days: readonly string[]): readonly Series[] {
  const totals = new Map<string, number>();
  for (const { label, value } of rows) if (label !== undefined) totals.set(label, (totals.get(label) ?? 0) + value);
  const ranked = [...totals].toSorted(([, a], [, b]) => b - a).map(([label]) => label);
  const isFew = ranked.length <= seriesColorVariables.length && rows.every(({ label }) => label !== undefined);
  const own = isFew ? ranked : ranked.slice(0, seriesColorVariables.length - 1);
  const labels = isFew ? own : [...own, creditsText.others];
  return labels.map((label, index): Series => {
    const isOf = (row: StackedRow) =>
      index < own.length ? row.label === label : row.label === undefined || !own.includes(row.label);
    const values = days.map((day) => sum(rows.filter((row) => row.day === day && isOf(row))));
    return { label, color: `var(${seriesColorVariables[index] ?? '--accent'})`, values };
  });
}

function sum(rows: readonly StackedRow[]): number {
  return rows.reduce((total, { value }) => total + value, 0);
}

/** The day of an instant in UTC, as the service names it. */
export function utcDayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

function shortDay(day: string): string {
  return dayFormat.format(Date.parse(day));
}

type FiguresProps = { readonly caption: string; readonly names: readonly string[]; readonly series: readonly Series[] };

function FiguresTable({ caption, names, series }: FiguresProps) {
  return (
    <details class="figures">
      <summary>{creditsText.figures}</summary>
      <div class="table-box">
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{creditsText.day}</th>
              {series.map(({ label }) => (
                <th key={label} scope="col" class="end">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name, index) => (
              <tr key={name}>
                <td>{name}</td>
                {series.map(({ label, values }) => (
                  <td key={label} class="end">
                    {formatNumber(values[index] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
