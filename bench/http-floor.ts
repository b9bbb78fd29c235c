import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import { createDatabase, type Database } from '../src/platform/database/database.ts';
import type { Bench } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { newDatabase } from './service.ts';

/** The floor of the HTTP rows: bare Koa and bare statements on the same PostgreSQL server. */
export type HttpFloor = {
  readonly baseUrl: string;
  /**
   * Starts another such process, in which Temporal also starts an empty
   * workflow after each insert.
   */
  readonly startStarting: () => Promise<Child & { readonly baseUrl: string }>;
  /** The ids of rows that can be selected. */
  readonly ids: readonly string[];
  /** Increments the only row of a table, and commits. */
  readonly updateHotRow: () => Promise<unknown>;
  close(): Promise<void>;
};

const rowsToSelect = 2_000;

export async function startHttpFloor(bench: Bench, body: unknown): Promise<HttpFloor> {
  const url = await newDatabase(bench.postgresUrl, 'floor');
  const db = createDatabase({ url });
  const ids = await fill(db, body);
  const child = await startFloor({ DATABASE_URL: url });
  return {
    baseUrl: child.baseUrl,
    startStarting: () => startFloor({ DATABASE_URL: url, TEMPORAL_ADDRESS: bench.development.address }),
    ids,
    updateHotRow: () => db.run({ name: 'hot', text: 'update floor_counter set n = n + 1 returning n' }),
    close: async () => {
      await child.stop();
      await db.close();
    },
  };
}

async function startFloor(environment: NodeJS.ProcessEnv): Promise<Child & { readonly baseUrl: string }> {
  const port = await reserveFreePort();
  const { TEMPORAL_ADDRESS: _mine, ...inherited } = process.env;
  const child = startChild('./floor-http.js', {
    ...inherited,
    ...environment,
    PORT: String(port),
    NODE_ENV: 'production',
  });
  await new Promise<void>((resolve) => child.onSaid(() => resolve()));
  return { ...child, baseUrl: `http://127.0.0.1:${port}` };
}

async function fill(db: Database, body: unknown): Promise<readonly string[]> {
  await db.run({ name: 'rows', text: 'create table floor_rows (id uuid primary key, body json not null)' });
  await db.run({ name: 'counter', text: 'create table floor_counter (n bigint) with (fillfactor = 50)' });
  await db.run({ name: 'one', text: 'insert into floor_counter values (0)' });
  const text = 'insert into floor_rows select gen_random_uuid(), $1 from generate_series(1, $2) returning id';
  const rows = await db.run<{ id: string }>({ name: 'fill', text }, [JSON.stringify(body), rowsToSelect]);
  return rows.map(({ id }) => id);
}
