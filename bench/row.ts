import type { Load } from './load.ts';

/** A line of the table. */
export type Row = {
  readonly what: string;
  readonly floor: string;
  readonly measured: string;
  readonly ratio: string;
  readonly target: string;
  /** Undefined when there is nothing to reach. */
  readonly isReached: boolean | undefined;
};

export function showLoad({ perSecond, p50Ms, p99Ms }: Load): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s, p50 ${showMs(p50Ms)}, p99 ${showMs(p99Ms)}`;
}

export function showMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${Math.round(ms).toLocaleString('en')} ms`;
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

const verdicts = { true: 'yes', false: '**no**', undefined: '–' } as const;

/** The table as Markdown. */
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
