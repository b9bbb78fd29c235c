import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { processRowsFromStoredCursor } from '../../../activities/maintenance/process-rows-from-cursor.ts';
import { readCursor } from '../../../src/platform/database/sweep-cursors.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

type Row = { readonly id: number };

/** Sweeps rows 1 to `last` in pages of three. The rows named in `failing` fail. */
async function sweep(name: string, last: number, failing: readonly number[] = []) {
  const [pages, worked, lines]: [number[], number[], Record<string, unknown>[]] = [[], [], []];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const events = recordEvents('reconcile_finding');
  let heartbeats = 0;
  const outcome = await silentActivity({ workflowId: 'w', onHeartbeat: () => (heartbeats += 1) }, () =>
    processRowsFromStoredCursor<Row>(
      { db: database.db, log, events },
      {
        name,
        limit: 3,
        page: ({ after: previous, limit }) => {
          const from = previous?.id ?? 0;
          pages.push(from);
          return Promise.resolve(
            Array.from({ length: Math.min(limit, last - from) }, (_, index) => ({ id: from + index + 1 })),
          );
        },
        work: ({ id }) => {
          worked.push(id);
          return failing.includes(id) ? Promise.reject(new Error(`row ${id}`)) : Promise.resolve();
        },
      },
    ).catch((error: Error) => error.message),
  );
  return {
    outcome,
    pages,
    worked,
    heartbeats,
    lines,
    counted: events.seen,
    cursor: await readCursor(database.db, name),
  };
}

test('all pages are swept, with a heartbeat for each row, until one is not full', async () => {
  const whole = await sweep('whole', 7);
  assert.deepEqual(whole.outcome, { failed: 0 });
  assert.deepEqual([whole.pages, whole.worked, whole.heartbeats], [[0, 3, 6], [1, 2, 3, 4, 5, 6, 7], 7]);
  assert.deepEqual([whole.lines, whole.counted, whole.cursor], [[], [], undefined]);
  assert.deepEqual((await sweep('full', 6)).pages, [0, 3, 6], 'after a full page there may be another');
});

test('a row that fails is counted, logged with what it is, and does not block the others', async () => {
  const { outcome, worked, lines, counted, cursor } = await sweep('some', 5, [2, 3, 4]);
  assert.deepEqual([outcome, worked], [{ failed: 3 }, [1, 2, 3, 4, 5]]);
  assert.deepEqual(
    lines.map(({ id, loop, err }) => [id, loop, (err as Error).message]),
    [2, 3, 4].map((id) => [id, 'some', `row ${id}`]),
  );
  assert.deepEqual(
    counted,
    Array.from({ length: 3 }, () => ({ kind: 'reconcile_finding', finding: 'failed' })),
  );
  assert.equal(cursor, undefined);
});

test('a page whose rows all fail ends the run, and the next run continues behind it', async () => {
  const broken = await sweep('outage', 8, [4, 5, 6]);
  assert.equal(broken.outcome, 'all 3 rows of a page failed');
  assert.deepEqual([broken.pages, broken.cursor], [[0, 3], { row: { id: 6 } }]);
  const next = await sweep('outage', 8);
  assert.deepEqual([next.pages, next.worked, next.cursor], [[6], [7, 8], undefined]);
});
