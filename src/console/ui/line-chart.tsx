import { useState } from 'preact/hooks';
import './chart.css';
import './line-chart.css';

export type Line = {
  readonly label: string;
  /** A token of the theme. */
  readonly color: string;
  /** Null where there is nothing to show. */
  readonly values: readonly (number | null)[];
};

type ChartProps = {
  readonly label: string;
  /** One for each point. */
  readonly names: readonly string[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** The top of the scale; by default above the highest value. */
  readonly top?: number;
};

/** Lines over time. The values of a point appear when it is pointed at or has the focus; the arrow keys move between points. */
export function LineChart({ label, names, lines, format, top: given }: ChartProps) {
  const [active, setActive] = useState<number>();
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const [top, bottom] = [given ?? niceBound(Math.max(0, ...all)) ?? 1, niceBound(Math.min(0, ...all)) ?? 0];
  const every = Math.ceil(names.length / 5);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !(event.currentTarget instanceof Element)) return;
    event.preventDefault();
    const next = Math.min(names.length - 1, Math.max(0, (active ?? names.length - 1) + step));
    event.currentTarget.querySelectorAll<SVGElement>('[role="img"]')[next]?.focus();
  };
  const shown = (index: number) =>
    lines.flatMap(({ label: of, color, values }) => {
      const value = values[index] ?? null;
      return value === null ? [] : [{ of, color, text: format(value) }];
    });
  return (
    <figure class="chart lines" aria-label={label} onMouseLeave={() => setActive(undefined)}>
      <div class="scale" aria-hidden="true">
        {[top, (top + bottom) / 2, bottom].map((value) => (
          <span key={value}>{format(value)}</span>
        ))}
      </div>
      <div class="plot">
        <svg role="group" viewBox={`0 0 ${names.length} 100`} preserveAspectRatio="none" onKeyDown={move}>
          {lines.map(({ label: of, color, values }) => (
            <g key={of} style={{ stroke: color }}>
              <path class="line" d={pathOf(values, top, bottom)} />
              <path class="line dots" d={pathOf(values.map(loneValue), top, bottom)} />
            </g>
          ))}
          {names.map((name, index) => (
            <rect
              key={name}
              class="hit"
              role="img"
              aria-label={`${name}: ${
                shown(index)
                  .map(({ of, text }) => `${of} ${text}`)
                  .join(', ') || '–'
              }`}
              tabIndex={index === (active ?? names.length - 1) ? 0 : -1}
              x={index}
              y={0}
              width={1}
              height={100}
              onMouseEnter={() => setActive(index)}
              onFocus={() => setActive(index)}
              onBlur={() => setActive(undefined)}
            />
          ))}
        </svg>
        {active !== undefined && (
          <div class="tip" style={tipSide(active, names.length)}>
            <strong>{names[active]}</strong>
            {shown(active).map(({ of, color, text }) => (
              <span key={of}>
                <i style={{ background: color }} /> {of} <b>{text}</b>
              </span>
            ))}
            {shown(active).length === 0 && <span>–</span>}
          </div>
        )}
        <div class="names" aria-hidden="true">
          {names.map((name, index) => (
            <span key={name}>{(names.length - 1 - index) % every === 0 ? name : ''}</span>
          ))}
        </div>
      </div>
      <figcaption class="legend">
        {lines.map(({ label: of, color }) => (
          <span key={of}>
            <i style={{ background: color }} aria-hidden="true" /> {of}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** A value without neighbors has no line that would show it. */
function loneValue(value: number | null, index: number, values: readonly (number | null)[]): number | null {
  return (values[index - 1] ?? values[index + 1] ?? null) === null ? value : null;
}

/** One stroke for each run of values; the caps of a stroke without length draw a dot. */
function pathOf(values: readonly (number | null)[], top: number, bottom: number): string {
  return values
    .flatMap((value, index) => {
      if (value === null) return [];
      const [x, y] = [index + 0.5, (100 * (top - value)) / (top - bottom)];
      const isFirst = (values[index - 1] ?? null) === null;
      return [isFirst ? `M${x} ${y}L${x} ${y}` : `L${x} ${y}`];
    })
    .join('');
}

/** Beside the point, on the side with more room. */
function tipSide(index: number, count: number) {
  const isLeft = index < count / 2;
  return { [isLeft ? 'left' : 'right']: `${(100 * (isLeft ? index + 1 : count - index)) / count}%` };
}

/** The next number beyond it whose half is short, too; undefined for none. */
function niceBound(value: number): number | undefined {
  if (value === 0) return undefined;
  const power = 10 ** Math.floor(Math.log10(Math.abs(value)));
  const factor = [1, 2, 4, 6, 10].find((one) => one * power >= Math.abs(value)) ?? 10;
  return Math.sign(value) * factor * power;
}
