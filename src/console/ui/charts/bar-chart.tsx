import { ChartFrame, niceBound } from './chart-frame.tsx';
import { formatNumber } from '../number-formats.tsx';

export type Series = { readonly label: string; readonly color: string; readonly values: readonly number[] };

type ChartProps = {
  readonly label: string;
  /** One for each bar. */
  readonly names: readonly string[];
  /** Stacked, the first one at the bottom. */
  readonly series: readonly Series[];
  readonly unit: string;
};

/** Stacked bars. */
export function BarChart({ label, names, series, unit }: ChartProps) {
  const sums = names.map((_name, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const top = Math.max(2, niceBound(Math.max(1, ...sums)));
  const tip = (index: number) => [
    ...series.flatMap(({ label: of, color, values }) => {
      const value = values[index] ?? 0;
      return value > 0 ? [{ label: of, color, text: formatNumber(value) }] : [];
    }),
    { label: 'Total', text: formatNumber(sums[index] ?? 0) },
  ];
  return (
    <ChartFrame
      label={label}
      names={names}
      maxNames={8}
      scale={[top, top / 2, 0].map(formatNumber)}
      height={top}
      legend={series}
      summary={(index) => `${formatNumber(sums[index] ?? 0)} ${unit}`}
      tip={tip}
    >
      {(pointAt) =>
        names.map((name, index) => (
          <g key={name} {...pointAt(index)}>
            <rect class="hit" x={index} y={0} width={1} height={top} />
            {series.map(({ label: of, color, values }, at) => {
              const below = series.slice(0, at).reduce((sum, one) => sum + (one.values[index] ?? 0), 0);
              const value = values[index] ?? 0;
              return (
                <rect
                  key={of}
                  x={index + 0.16}
                  y={top - below - value}
                  width={0.68}
                  height={value}
                  style={{ fill: color }}
                />
              );
            })}
          </g>
        ))
      }
    </ChartFrame>
  );
}
