import { useMemo } from 'preact/hooks';
import type { UsageDay as Day } from '../../api/contract.ts';
import { BarChart, type Series } from '../../ui/chart.tsx';
import { number } from '../../ui/money.tsx';
import { dayMs } from '../../ui/time.tsx';

/** As tokens, so that the theme chooses them. */
const colours = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'];

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

type DayChartProps = { readonly days: readonly Day[]; readonly from: number; readonly to: number };

/** Charged credits of each day, stacked by model; the same figures as a table for those who do not see the picture. */
export function DayChart({ days, from, to }: DayChartProps) {
  const first = Math.floor(from / dayMs) * dayMs;
  const count = Math.max(1, Math.floor(to / dayMs) - first / dayMs + 1);
  const { instants, series } = useMemo(() => seriesOf(days, first, count), [days, first, count]);
  return (
    <>
      <BarChart
        label="Credits charged by day and model"
        names={instants.map((ms) => dayFormat.format(ms))}
        series={series}
        unit="credits"
      />
      <details class="quiet figures">
        <summary>Figures</summary>
        <div class="table-box">
          <table>
            <caption class="visually-hidden">Credits charged by day and model</caption>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" class="end">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {instants.map((ms, index) => (
                <tr key={ms}>
                  <td>{new Date(ms).toISOString().slice(0, 10)}</td>
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
    </>
  );
}

function seriesOf(days: readonly Day[], first: number, count: number) {
  const instants = Array.from({ length: count }, (_day, index) => first + index * dayMs);
  const names = instants.map((ms) => new Date(ms).toISOString().slice(0, 10));
  const models = [
    ...new Set(days.filter(({ charged }) => charged > 0).map(({ model }) => model ?? 'other')),
  ].toSorted();
  const series = models.map((model, index): Series => {
    const values = names.map((name) =>
      days
        .filter(({ day, model: of }) => day === name && (of ?? 'other') === model)
        .reduce((sum, { charged }) => sum + charged, 0),
    );
    return { label: model, colour: `var(${colours[index % colours.length] ?? '--accent'})`, values };
  });
  return { instants, series };
}
