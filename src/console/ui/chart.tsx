import uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';

export type Series = { readonly label: string; readonly colour: string; readonly values: readonly number[] };

type ChartProps = {
  /** Said of the picture; the figures also stand in a table beside it. */
  readonly label: string;
  /** Unix milliseconds of the beginning of each day, UTC. */
  readonly days: readonly number[];
  /** Stacked, the first one at the bottom. */
  readonly series: readonly Series[];
};

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** Stacked bars, one a day. Redrawn when its box or the theme changes: a canvas takes its colours only once. */
export function Chart({ label, days, series }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(current, days, series), dataOf(days, series), current);
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: current.clientWidth, height }));
    resized.observe(current);
    const rethemed = new MutationObserver(draw);
    rethemed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      plot?.destroy();
      resized.disconnect();
      rethemed.disconnect();
      dark.removeEventListener('change', draw);
    };
  }, [days, series]);
  // Of its full height before it is drawn: nothing below it shall be seen to move.
  return <div ref={box} class="plot" style={{ height: `${height}px` }} role="img" aria-label={label} />;
}

/** Of the picture, in pixels; that of its place while this code is loaded, too. */
const height = 220;

/** A date below every so many bars, so that their words have room. */
function labelled(days: readonly number[], width: number): number[] {
  const every = Math.max(1, Math.ceil((days.length * 64) / Math.max(64, width - 60)));
  return days.filter((_day, index) => (days.length - 1 - index) % every === 0);
}

const halfDayMs = 43_200_000;

function optionsOf(box: HTMLElement, days: readonly number[], series: readonly Series[]): uPlot.Options {
  const colourOf = (name: string) => resolved(box, `var(${name})`);
  const font = `12px ${getComputedStyle(box).fontFamily}`;
  const axis = { stroke: colourOf('--text-faint'), font, ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.62, 34], radius: 0.15 });
  return {
    width: box.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [(days[0] ?? 0) - halfDayMs, (days.at(-1) ?? 0) + halfDayMs] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.08] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        splits: (plot) => labelled(days, plot.width),
        values: (_plot, values) => values.map((ms) => dayFormat.format(ms)),
      },
      {
        ...axis,
        grid: { stroke: colourOf('--line'), width: 1 },
        values: (_plot, values) => values.map((value) => compact.format(value)),
        size: 46,
      },
    ],
    // The highest sum is drawn first; each lower one covers it.
    series: [
      {},
      ...series.toReversed().map(({ label, colour }) => {
        const fill = resolved(box, colour);
        return {
          label,
          fill,
          stroke: fill,
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        };
      }),
    ],
  };
}

function dataOf(days: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const sums = series.map((_one, last) =>
    days.map((_day, index) => series.slice(0, last + 1).reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  );
  return [[...days], ...sums.toReversed()];
}

/** A colour of the tokens as the canvas understands it. */
function resolved(box: HTMLElement, colour: string): string {
  const probe = document.createElement('i');
  probe.style.color = colour;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
