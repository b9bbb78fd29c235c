import type { Bench, Say } from './bench.ts';
import { refusedRequests } from './caller.ts';
import type { Part } from './parts.ts';
import { processorTimes, shareOfOthers } from './processor.ts';
import { disturbances } from './rounds.ts';
import { nothingToReach, type Row } from './row.ts';

export type Measured = {
  readonly rows: readonly Row[];
  /** The duration of each part, and its disturbances. */
  readonly asides: readonly string[];
  /** 1 if a part failed. */
  readonly exitStatus: 0 | 1;
};

/**
 * Measures the parts one after the other. A part that fails, or that has no
 * row, is reported as a row of its own, and the others are still measured.
 */
export async function measureParts(
  chosen: readonly (readonly [name: string, part: Part])[],
  bench: Bench,
  say: Say,
): Promise<Measured> {
  const [rows, asides]: [Row[], string[]] = [[], []];
  let exitStatus: Measured['exitStatus'] = 0;
  for (const [name, part] of chosen) {
    say(`${name} …`);
    const watch = await watchPart();
    const before = rows.length;
    try {
      for await (const row of part.measure(bench, say)) {
        rows.push(row);
        // Printed now, so that the row is not lost if a later one is
        // interrupted.
        say(`  ${row.what}: ${row.measured} (${row.ratio})`);
      }
      if (rows.length === before) throw new Error(`${name} has no row`);
    } catch (error) {
      exitStatus = 1;
      say(String(error instanceof Error ? error.stack : error));
      rows.push(failedRow(name, error));
    }
    const aside = `${name} ${await watch()}`;
    asides.push(aside);
    say(aside);
  }
  const sorted = [...rows.filter(({ isFirst }) => isFirst), ...rows.filter(({ isFirst }) => !isFirst)];
  return { rows: sorted, asides, exitStatus };
}

function failedRow(part: string, error: unknown): Row {
  // A line break would end the row of the table.
  const reason = String(error).replaceAll(/\s+/g, ' ');
  return { what: `the rest of ${part}`, floor: '–', measured: `failed: ${reason}`, ratio: '–', ...nothingToReach };
}

async function watchPart(): Promise<() => Promise<string>> {
  const [from, before, refused, rounds] = [
    performance.now(),
    await processorTimes(),
    refusedRequests(),
    disturbances(),
  ];
  return async () => {
    const now = disturbances();
    const counted = [
      [now.repeated - rounds.repeated, 'rounds repeated'],
      [now.failed - rounds.failed, 'measurements failed'],
      [refusedRequests() - refused, 'requests refused'],
    ] as const;
    const others = Math.round(100 * shareOfOthers(before, await processorTimes()));
    const words = counted.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
    return [`${minutesSince(from)} min, others ${others} %`, ...words].join(', ');
  };
}

export function minutesSince(from: number): string {
  return ((performance.now() - from) / 60_000).toFixed(1);
}
