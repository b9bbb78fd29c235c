import type { UsageDay } from '../../api/contract.ts';
import { BarChart, type Series } from '../../ui/chart.tsx';
import { number } from '../../ui/money.tsx';
import { Card } from '../../ui/page.tsx';
import { dayMs } from '../../ui/time.tsx';
import { creditsText } from './credits-text.ts';
import './credits.css';

/** As tokens, so that the theme chooses them. */
export const seriesColors = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'];

type DayChartProps = { readonly days: readonly UsageDay[]; readonly fromMs: number; readonly count: number };

/** Charged credits of each day, stacked by model, and as a table. Absent without a charge. */
export function DayChart({ days, fromMs, count }: DayChartProps) {
  const charged = days.filter((one) => one.charged > 0);
  if (charged.length === 0) return null;
  const names = Array.from({ length: count }, (_day, index) => dayOf(fromMs + index * dayMs));
  const totalOf = (model: string) => sum(charged.filter((one) => one.model === model));
  // In the order of the usage page, so that a model has the same color on both.
  const models = [...new Set(charged.flatMap(({ model }) => model ?? []))].toSorted((a, b) => totalOf(b) - totalOf(a));
  const isFew = models.length <= seriesColors.length && charged.every(({ model }) => model !== null);
  // The last color is for all others.
  const own = isFew ? models : models.slice(0, seriesColors.length - 1);
  const labels = isFew ? own : [...own, creditsText.otherModels];
  const series = labels.map((label, index): Series => {
    const isOf = ({ model }: UsageDay) => (index < own.length ? model === label : !own.includes(model ?? ''));
    const rows = charged.filter(isOf);
    const values = names.map((name) => sum(rows.filter(({ day }) => day === name)));
    return { label, color: `var(${seriesColors[index] ?? '--accent'})`, values };
  });
  return (
    <Card title={creditsText.chart} isFlush>
      <BarChart label={creditsText.chart} names={names.map(shortDay)} series={series} unit={creditsText.credits} />
      <FiguresTable caption={creditsText.chart} names={names} series={series} />
    </Card>
  );
}

/** The day of an instant in UTC, as the service names it. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

export function shortDay(day: string): string {
  return dayFormat.format(Date.parse(day));
}

function sum(days: readonly UsageDay[]): number {
  return days.reduce((total, { charged }) => total + charged, 0);
}

type FiguresProps = { readonly caption: string; readonly names: readonly string[]; readonly series: readonly Series[] };

export function FiguresTable({ caption, names, series }: FiguresProps) {
  return (
    <details class="quiet figures">
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
                    {number(values[index] ?? 0)}
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
