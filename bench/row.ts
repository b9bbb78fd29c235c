import type { Load } from './load.ts';

/** A line of the table. */
export type Row = {
  readonly what: string;
  readonly floor: string;
  readonly measured: string;
  readonly ratio: string;
  readonly target: string;
  /** Undefined if the row has no target. */
  readonly isReached: boolean | undefined;
  /**
   * True for rows that answer the first questions of a reader (accept, read, a
   * whole task, peers). They are at the top of the table.
   */
  readonly isFirst?: true;
};

/** The fields of a row without a target. */
export const nothingToReach = { target: '–', isReached: undefined } as const;

export function showLoad({ perSecond, p50Ms, p99Ms, refused }: Load): string {
  const aside = refused === 0 ? '' : `, ${refused.toLocaleString('en')} refused`;
  return `${showRate(perSecond)}, p50 ${showMs(p50Ms)}, p99 ${showMs(p99Ms)}${aside}`;
}

// A figure that was not measured is shown as a dash.

export function showRate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–';
  return `${perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')}/s`;
}

export function showMs(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${Math.round(ms).toLocaleString('en')} ms`;
}

export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${ratio.toFixed(2)} ×` : '–';
}

const verdicts = { true: 'yes', false: '**no**', undefined: '–' } as const;

/** Returns the table as Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) =>
    [row.what, row.floor, row.measured, row.ratio, row.target, verdicts[`${row.isReached}`]].join(' | '),
  );
  return [
    'what | floor in the same run | measured | ratio | to reach | reached',
    '--- | --- | --- | --- | --- | ---',
    ...lines,
  ]
    .map((line) => `| ${line} |`)
    .join('\n');
}
