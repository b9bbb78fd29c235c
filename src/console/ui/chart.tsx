import { useState } from 'preact/hooks';
import { number } from './money.tsx';
import './chart.css';

export type Series = { readonly label: string; readonly color: string; readonly values: readonly number[] };

type ChartProps = {
  readonly label: string;
  /** One for each bar. */
  readonly names: readonly string[];
  /** Stacked, the first one at the bottom. */
  readonly series: readonly Series[];
  readonly unit: string;
};

/** Stacked bars. The values of a bar appear when it is pointed at or has the focus; the arrow keys move between bars. */
export function BarChart({ label, names, series, unit }: ChartProps) {
  const [active, setActive] = useState<number>();
  const sums = names.map((_name, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const top = niceTop(Math.max(1, ...sums));
  const every = Math.ceil(names.length / 8);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !(event.currentTarget instanceof Element)) return;
    event.preventDefault();
    const next = Math.min(names.length - 1, Math.max(0, (active ?? 0) + step));
    event.currentTarget.querySelectorAll<SVGElement>('[role="img"]')[next]?.focus();
  };
  return (
    <figure class="chart" aria-label={label} onMouseLeave={() => setActive(undefined)}>
      <div class="scale" aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{number(value)}</span>
        ))}
      </div>
      <div class="plot">
        <svg role="group" viewBox={`0 0 ${names.length} ${top}`} preserveAspectRatio="none" onKeyDown={move}>
          {names.map((name, index) => (
            <g
              key={name}
              role="img"
              aria-label={`${name}: ${number(sums[index] ?? 0)} ${unit}`}
              tabIndex={index === (active ?? names.length - 1) ? 0 : -1}
              onMouseEnter={() => setActive(index)}
              onFocus={() => setActive(index)}
              onBlur={() => setActive(undefined)}
            >
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
          ))}
        </svg>
        {active !== undefined && (
          <div class="tip" style={{ [active < names.length / 2 ? 'left' : 'right']: edge(active, names.length) }}>
            <strong>{names[active]}</strong>
            {series.map(
              ({ label: of, color, values }) =>
                (values[active] ?? 0) > 0 && (
                  <span key={of}>
                    <i style={{ background: color }} /> {of} <b>{number(values[active] ?? 0)}</b>
                  </span>
                ),
            )}
            <span>
              Total <b>{number(sums[active] ?? 0)}</b>
            </span>
          </div>
        )}
        <div class="names" aria-hidden="true">
          {names.map((name, index) => (
            <span key={name} class={(names.length - 1 - index) % (2 * every) === 0 ? undefined : 'spare'}>
              {(names.length - 1 - index) % every === 0 ? name : ''}
            </span>
          ))}
        </div>
      </div>
      <figcaption class="legend">
        {series.map(({ label: of, color }) => (
          <span key={of}>
            <i style={{ background: color }} aria-hidden="true" /> {of}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Beside the bar, on the side with more room. */
function edge(index: number, count: number): string {
  const share = index < count / 2 ? (index + 1) / count : (count - index) / count;
  return `${100 * share}%`;
}

/** A number whose half is short, too, such as 400. */
function niceTop(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max));
  const factor = [1, 2, 4, 6, 10].find((one) => one * power >= max) ?? 10;
  return Math.max(2, factor * power);
}
