import assert from 'node:assert/strict';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { waitFor } from '../support/wait-for.ts';
import { downloaded, type Load } from './production-load.ts';
import type { Topology } from './topology.ts';

type Row = {
  readonly id: string;
  readonly prompt: string;
  readonly state: string;
  readonly failCode: string | null;
  readonly deliveryState: string;
};

const ordersOf = {
  name: 'test-orders',
  text: `select t.id, t.param->'input'->>'prompt' as prompt, t.state, t.fail_code as "failCode", d.state as "deliveryState"
    from tasks t left join callback_deliveries d on d.task_id = t.id where t.account_id = any($1::uuid[])`,
};

const balanceOf = {
  name: 'test-balance',
  text: `select a.balance::int as balance, (select coalesce(sum(credits_charged), 0)::int from tasks t
    where t.account_id = a.id) as spent from accounts a where a.id = $1`,
};

/**
 * Checks what a rolling restart left behind: no failed call, each order one task that succeeded, each job upstream made once, each
 * callback delivered, each video behind its link, and the books right.
 */
export async function checkOrders({ world, upstream }: Topology, load: Load): Promise<void> {
  const { db } = world.database;
  assert.deepEqual(load.failed, []);
  // Retries are allowed after a documented 503 or a connection that a restarted store closed, never because of an API that ends.
  const strange = [...load.repeated.keys()].filter(
    (reason) => reason !== 'unreachable' && !/^503 [a-z_]+$/.test(reason),
  );
  assert.deepEqual(strange, []);
  const rows = await waitFor('the callbacks', async () => {
    const found = await db.run<Row>(ordersOf, [load.accounts.map(({ accountId }) => accountId)]);
    return found.every(({ deliveryState }) => deliveryState !== 'pending') ? found : undefined;
  });
  const faults = load.orders.flatMap(({ nonce, taskId, callbackPath }) => {
    const own = rows.filter(({ prompt }) => prompt.startsWith(nonce));
    if (own.length !== 1) return [`${nonce} is ${own.length} tasks`];
    const [row] = own;
    const callbacks = load.receiver.received.filter(({ path }) => path === callbackPath);
    return [
      ...(row?.id === taskId ? [] : [`${nonce} was answered ${taskId}, and is ${row?.id}`]),
      ...(row?.state === 'success' ? [] : [`${nonce} ended in ${row?.state} ${row?.failCode}`]),
      ...(row?.deliveryState === 'delivered' && callbacks.length > 0 ? [] : [`${nonce} was not called back`]),
      ...(new Set(callbacks.map(({ headers }) => headers['webhook-id'])).size === 1 ? [] : [`${nonce}: webhook-id`]),
    ];
  });
  assert.deepEqual(faults, []);
  assert.equal(rows.length, load.orders.length, 'tasks without an order');
  const jobs = (await upstream.jobs()).map(({ prompt }) => prompt);
  assert.equal(jobs.length, new Set(jobs).size, 'jobs upstream were made twice');
  for (const { client, taskId } of load.orders) if (taskId !== undefined) await downloaded(client, taskId);
  assert.deepEqual(await auditLedger(db), []);
  const balances = await Promise.all(
    load.accounts.map(async ({ accountId, opened }) => {
      const [row] = await db.run<{ spent: number; balance: number }>(balanceOf, [accountId]);
      return row === undefined ? undefined : row.balance + row.spent - opened;
    }),
  );
  assert.deepEqual(
    balances,
    balances.map(() => 0),
  );
}

/** A log line of what clients noticed. */
export function reportLoad(load: Load): string {
  const repeats = [...load.repeated].map(([reason, times]) => `${times} × ${reason}`).join(', ') || 'none';
  return `# ${load.orders.length} tasks, ${load.calls()} calls of the client, ${load.failed.length} failed; tries repeated: ${repeats}\n`;
}
