import { ChartFrame, niceBound } from './chart-frame.tsx';

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

/** Lines over time. */
export function LineChart({ label, names, lines, format, top: given }: ChartProps) {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const [top, bottom] = [given ?? (niceBound(Math.max(0, ...all)) || 1), niceBound(Math.min(0, ...all))];
  const shown = (index: number) =>
    lines.flatMap(({ label: of, color, values }) => {
      const value = values[index] ?? null;
      return value === null ? [] : [{ label: of, color, text: format(value) }];
    });
  return (
    <ChartFrame
      label={label}
      names={names}
      maxNames={5}
      scale={[top, (top + bottom) / 2, bottom].map(format)}
      height={100}
      legend={lines}
      summary={(index) => {
        const texts = shown(index).map(({ label: of, text }) => `${of} ${text}`);
        return texts.join(', ') || '–';
      }}
      tip={(index) => (shown(index).length === 0 ? [{ label: '–', text: '' }] : shown(index))}
    >
      {(pointAt) => (
        <>
          {lines.map(({ label: of, color, values }) => (
            <g key={of} style={{ stroke: color }}>
              <path class="line" d={pathOf(values, top, bottom)} />
              <path class="line dots" d={pathOf(values.map(loneValue), top, bottom)} />
            </g>
          ))}
          {names.map((name, index) => (
            <rect key={name} class="hit" {...pointAt(index)} x={index} y={0} width={1} height={100} />
          ))}
        </>
      )}
    </ChartFrame>
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
