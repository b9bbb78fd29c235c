import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { createClient } from '../../clients/typescript/src/index.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { createTestAccount } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { skipsWithoutPrograms, startTopology, type Topology } from './topology.ts';

const [tasks, accounts] = [1_000, 20];
/** What each process may hold, in MB, as in the rows of `npm run bench` about memory. */
const limitsMb = { api: 200, worker: 450 } as const;
const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a burst', duration: 4 } };
const credits = 132;
/** A rate far below what the slowest machine did. */
const limitMs = 300_000;
const say = (line: string) => process.stdout.write(`# ${line}\n`);

describe('a burst on an installation of several processes', { skip: skipsWithoutPrograms }, () => {
  let topology: Topology;
  before(async () => {
    topology = await startTopology({ GENERATION_CONCURRENCY: '20' });
  });
  after(() => topology?.close());

  test(`${tasks} instant tasks of ${accounts} accounts at the same moment all end in success; the books are exact, memory is bounded`, async () => {
    const { db } = topology.world.database;
    const owners = await Promise.all(
      Array.from({ length: accounts }, async () => {
        const own = await createTestAccount(topology.world.database, credits * tasks);
        return { ...own, client: createClient({ baseUrl: topology.baseUrl, key: own.key }) };
      }),
    );
    const memory = watchMemory(topology);
    const startedAt = performance.now();
    const ids = await Promise.all(
      Array.from({ length: tasks }, async (_, index) => {
        const created = await owners[index % accounts]?.client.createTask(request);
        return created?.taskId;
      }),
    );
    const acceptedMs = performance.now() - startedAt;
    assert.equal(new Set(ids).size, tasks);
    await waitFor('the last task', async () => ((await unfinished()) === 0 ? true : undefined), limitMs);
    const endedMs = performance.now() - startedAt;
    const [waits] = await db.run<{ p50: number; p95: number; longest: number }>({
      name: 'test-queue-waits',
      text: `select round(percentile_cont(0.5) within group (order by wait)::numeric, 1)::float8 as p50,
          round(percentile_cont(0.95) within group (order by wait)::numeric, 1)::float8 as p95, round(max(wait)::numeric, 1)::float8 as longest
        from (select extract(epoch from generation_started_at - created_at) as wait from tasks) waits`,
    });
    const held = await memory.stop();
    say(`${tasks} tasks: accepted in ${inSeconds(acceptedMs)} s, ended in ${inSeconds(endedMs)} s`);
    say(`seconds in queues until generation began: ${JSON.stringify(waits)}`);
    say(`most memory, MB: ${JSON.stringify(held)}`);
    const outcomes = await db.run<{ state: string; tasks: number }>({
      name: 'test-outcomes',
      text: 'select state, count(*)::int as tasks from tasks group by 1',
    });
    assert.deepEqual(outcomes, [{ state: 'success', tasks }]);
    assert.deepEqual(await auditLedger(db), []);
    for (const { client } of owners)
      assert.equal((await client.credits()).balance, credits * tasks - (credits * tasks) / accounts);
    for (const [name, mb] of Object.entries(held))
      assert.ok(mb <= limitsMb[name.startsWith('api') ? 'api' : 'worker'], `${name} held ${mb} MB`);
  });

  async function unfinished(): Promise<number> {
    const [row] = await topology.world.database.db.run<{ tasks: number }>({
      name: 'test-unfinished',
      text: `select count(*)::int as tasks from tasks where state not in ('success', 'fail')`,
    });
    return row?.tasks ?? Number.NaN;
  }
});

/** Looks at the memory of each API and worker once a second; `stop` answers the most that each held, in MB. */
function watchMemory({ apis, workers }: Topology) {
  const most: Record<string, number> = {};
  const look = () =>
    Promise.all(
      [...apis, ...workers].map(async ({ name, pid }) => {
        const status = await readFile(`/proc/${pid()}/status`, 'utf8').catch(() => '');
        const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(status) ?? [];
        if (kilobytes !== undefined) most[name] = Math.max(most[name] ?? 0, Math.round(Number(kilobytes) / 1024));
      }),
    );
  const looking = setInterval(() => void look(), 1_000);
  return {
    stop: async () => {
      clearInterval(looking);
      await look();
      return most;
    },
  };
}

function inSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
