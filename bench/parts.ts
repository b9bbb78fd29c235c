import type { Bench } from './bench.ts';
import type { Row } from './row.ts';
import { callbackRows } from './rows/callbacks.ts';
import { coldStartRows } from './rows/cold-start.ts';
import { growthRows, httpRows } from './rows/http.ts';
import { hangingRow, manyRow } from './rows/outstanding.ts';
import { peerRows } from './rows/peers.ts';
import { previewRow } from './rows/preview-render.ts';
import { liveRows } from './rows/visible.ts';
import { memoryRow, posterRow, type WholeTaskEngine, wholeTaskRows } from './rows/whole-task.ts';

/** What is said while it is measured, and what the report says below its table. */
export type Telling = { readonly say: (text: string) => void; readonly note: (text: string) => void };

export type Part = {
  /** Long parts are measured when they are asked for: all that is left takes less than ten minutes. */
  readonly isLong?: true;
  readonly measure: (bench: Bench, telling: Telling) => Promise<readonly Row[]>;
};

/** In the order of the table. */
export const parts: Readonly<Record<string, Part>> = {
  http: { measure: httpRows },
  engine: { measure: (bench) => wholeTaskRows(bench, bestEngine(bench)) },
  live: { measure: liveRows },
  callbacks: { measure: (bench) => callbackRows(bench, bestEngine(bench)) },
  preview: { measure: (bench) => previewRows(bench, 0) },
  start: { measure: ({ folder }) => coldStartRows(folder) },
  memory: { isLong: true, measure: async (bench, { say }) => [await memoryRow(bench, bestEngine(bench), say)] },
  growth: { isLong: true, measure: growthRows },
  engines: { isLong: true, measure: otherEngineRows },
  photographs: { isLong: true, measure: (bench) => previewRows(bench, 3) },
  peers: { isLong: true, measure: (bench, { note }) => peerRows(bench, note) },
  // The last, because what they leave running at Temporal would disturb the others.
  hanging: { isLong: true, measure: async (bench) => [await hangingRow(bench, bestEngine(bench))] },
  outstanding: { isLong: true, measure: async (bench) => [await manyRow(bench, bestEngine(bench))] },
};

/** Production's own server where there is one: it is what serves clients. */
function bestEngine(bench: Bench): WholeTaskEngine {
  const { production } = bench;
  return production === undefined
    ? developmentEngine(bench)
    : { name: 'production server on PostgreSQL', address: production.address };
}

function developmentEngine({ temporal }: Bench): WholeTaskEngine {
  return { name: 'development server', address: temporal.address };
}

/** The development server, and tasks whose posters are made here. */
async function otherEngineRows(bench: Bench): Promise<readonly Row[]> {
  const engine = bestEngine(bench);
  const development = bench.production === undefined ? [] : await wholeTaskRows(bench, developmentEngine(bench));
  return [...development, await posterRow(bench, engine)];
}

async function previewRows({ folder }: Bench, photographs: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const seconds of [5, 15]) rows.push(await previewRow(folder, seconds, photographs));
  return rows;
}
