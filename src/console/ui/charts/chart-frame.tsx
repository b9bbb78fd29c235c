import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import './chart.css';

type Key = { readonly label: string; readonly color: string };
type TipRow = { readonly label: string; readonly color?: string; readonly text: string };

type FrameProps = {
  readonly label: string;
  /** One for each bar or point. */
  readonly names: readonly string[];
  /** The most names that fit below the chart. */
  readonly maxNames: number;
  /** From the top to the bottom. */
  readonly scale: readonly string[];
  /** The height of the drawing in its own units; each bar or point is one unit wide. */
  readonly height: number;
  readonly legend: readonly Key[];
  /** Read out for a bar or point, after its name. */
  readonly summary: (index: number) => string;
  /** Shown beside a bar or point that is pointed at or has the focus. */
  readonly tip: (index: number) => readonly TipRow[];
  /** The drawing. The element of each bar or point takes these attributes. */
  readonly children: (pointAt: (index: number) => PointAttributes) => ComponentChildren;
};

type PointAttributes = {
  readonly role: 'img';
  readonly 'aria-label': string;
  readonly tabIndex: number;
  readonly onMouseEnter: () => void;
  readonly onFocus: () => void;
  readonly onBlur: () => void;
};

/** Every chart has a scale, names, a legend, and values on hover and focus; the arrow keys move between its bars or points. */
export function ChartFrame({ label, names, maxNames, scale, height, legend, summary, tip, children }: FrameProps) {
  const [active, setActive] = useState<number>();
  const last = names.length - 1;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || !(event.currentTarget instanceof Element)) return;
    event.preventDefault();
    const next = Math.min(last, Math.max(0, (active ?? last) + step));
    event.currentTarget.querySelectorAll<SVGElement>('[role="img"]')[next]?.focus();
  };
  const pointAt = (index: number): PointAttributes => ({
    role: 'img',
    'aria-label': `${names[index] ?? ''}: ${summary(index)}`,
    tabIndex: index === (active ?? last) ? 0 : -1,
    onMouseEnter: () => setActive(index),
    onFocus: () => setActive(index),
    onBlur: () => setActive(undefined),
  });
  return (
    <figure class="chart" aria-label={label} onMouseLeave={() => setActive(undefined)}>
      <div class="scale" aria-hidden="true">
        {scale.map((value) => (
          <span key={value}>{value}</span>
        ))}
      </div>
      <div class="plot">
        <svg role="group" viewBox={`0 0 ${names.length} ${height}`} preserveAspectRatio="none" onKeyDown={move}>
          {children(pointAt)}
        </svg>
        {active !== undefined && (
          <div class="tip" style={tipSide(active, names.length)}>
            <strong>{names[active]}</strong>
            {tip(active).map(({ label: of, color, text }) => (
              <span key={of}>
                {color !== undefined && <i style={{ background: color }} />} {of} <b>{text}</b>
              </span>
            ))}
          </div>
        )}
        <Names names={names} max={maxNames} />
      </div>
      <figcaption class="legend">
        {legend.map(({ label: of, color }) => (
          <span key={of}>
            <i style={{ background: color }} aria-hidden="true" /> {of}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** As many names as fit, the last one first; half of them on a narrow screen. */
function Names({ names, max }: { readonly names: readonly string[]; readonly max: number }) {
  const every = Math.ceil(names.length / max);
  return (
    <div class="names" aria-hidden="true">
      {names.map((name, index) => {
        const fromEnd = names.length - 1 - index;
        const isEdge = fromEnd === 0 && every > 1;
        return (
          <span key={name} class={isEdge ? 'edge' : fromEnd % (2 * every) === 0 ? undefined : 'spare'}>
            {fromEnd % every === 0 ? name : ''}
          </span>
        );
      })}
    </div>
  );
}

/** Beside the bar or point, on the side with more room. */
function tipSide(index: number, count: number) {
  const isLeft = index < count / 2;
  return { [isLeft ? 'left' : 'right']: `${(100 * (isLeft ? index + 1 : count - index)) / count}%` };
}

/** The next number beyond it whose half is short, too, such as 400. */
export function niceBound(value: number): number {
  if (value === 0) return 0;
  const power = 10 ** Math.floor(Math.log10(Math.abs(value)));
  const factor = [1, 2, 4, 6, 10].find((one) => one * power >= Math.abs(value)) ?? 10;
  return Math.sign(value) * factor * power;
}
