import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createAccount } from '../../../src/credits/open-account.ts';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { findPostgresUrl } from '../../../src/run/embedded/postgres/postgres-server.ts';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { type OwnUpstream, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { type Api, createdTask, recordInfo, waitForRecord } from '../../support/service/call-api.ts';
import { endOf, endPrograms } from '../../support/processes/programs.ts';
import { spawnVideogen, videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

// The data folder of `npm start` is restored from a copy, as docs/operations/backup.md says: all of it, its database, or its Temporal. An
// upstream with books of its own shows that no job is paid for twice.

const run = promisify(execFile);

/** Video models take the names of the standard ones; the film of the fake fits no order. */
const catalogueOf = (address: string) => `
providers:
  gpu: { kind: own, baseUrl: 'http://${address}', limit: 4 }
models:
  - model: videogen-2.0-fast
    title: A fake
    shortfall: accept
    prices: [{ creditsPerSecond: 33 }]
    tiers: [[{ provider: gpu, model: m }]]
`;

describe('a data folder of npm start that is restored', () => {
  let [folder, backup, data] = ['', '', ''];
  let upstream: OwnUpstream;
  let env: NodeJS.ProcessEnv;
  let api: Api;
  /** The tasks of the copy, of two accounts, and a later one. */
  let [early, foreign, late] = ['', '', ''];

  const start = async (...options: readonly string[]) => {
    const service = spawnVideogen(env, 'start', ...options);
    await waitFor('the banner', () => {
      assert.equal(service.child.exitCode, null, service.stderr());
      return service.stdout().includes('Videogen is running') ? true : undefined;
    });
    const stop = async () => {
      service.child.kill('SIGINT');
      assert.equal((await endOf(service.child)).code, 0);
    };
    return { ...service, stop };
  };
  /** Uses the database of the service that runs. */
  const withDatabase = async <T>(use: (db: Database) => Promise<T>): Promise<T> => {
    const url = await waitFor('the database', () => findPostgresUrl(join(data, 'postgres')));
    const db = createDatabase({ url, poolSize: 1, onIdleError: () => undefined });
    try {
      return await use(db);
    } finally {
      await db.close();
    }
  };
  /** While this file is missing, PostgreSQL waits with the end of the other account's task. */
  const gate = () => join(data, 'postgres', 'cluster', 'gate');
  const addGate = async (db: Database) => {
    const wait = `
create function wait_at_gate() returns trigger language plpgsql as $$ begin
  while pg_stat_file('gate', true) is null loop perform pg_sleep(0.02); end loop; return new;
end $$`;
    const trigger = `
create trigger at_gate before update on tasks for each row
when (new.id = '${foreign}' and new.state = 'fail') execute function wait_at_gate()`;
    await db.run({ name: 'test-wait-at-gate', text: wait });
    await db.run({ name: 'test-at-gate', text: trigger });
    await writeFile(gate(), '');
  };
  const jobsFor = async (prompt: string) => (await upstream.books.jobsFor(prompt)).length;
  const stateOf = async (taskId: string) => {
    const { body } = await recordInfo(api, taskId);
    return [body.data['state'], body.data['failCode']];
  };
  const copy = async (from: string, to: string) => {
    await rm(to, { recursive: true, force: true });
    await run('cp', ['-a', from, to]);
  };
  const assertBooks = async () =>
    assert.deepEqual(JSON.parse((await videogen(env, 'audit', '--json')).stdout), { violations: [] });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-restored-'));
    [backup, data] = [join(folder, 'backup'), join(folder, 'data')];
    upstream = await startOwnUpstream();
    await writeFile(join(folder, 'catalogue.yaml'), catalogueOf(upstream.address));
    const port = await reserveFreePort();
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
    const settings = { VIDEOGEN_DATA: data, VIDEOGEN_MODELS: join(folder, 'catalogue.yaml'), PORT: String(port) };
    env = { ...rest, ...settings, READ_RATE: 'off' };
    api = { baseUrl: `http://127.0.0.1:${port}`, key: '' };

    // Two tasks whose jobs run are in the copy. After it, the jobs end, and another task begins.
    const first = await start();
    api = { ...api, key: /vg_\w+/.exec(first.stdout())?.[0] ?? '' };
    early = await createdTask(api, { prompt: 'early', duration: 4 });
    const other = await withDatabase(async (db) => {
      const accountId = await createAccount(db, { name: 'other', credits: 1_000 });
      return await createKeyUnchecked(db, { accountId, name: 'other', scopes });
    });
    foreign = await createdTask({ ...api, key: other?.key ?? '' }, { prompt: 'foreign', duration: 4 });
    await waitFor('both jobs', async () =>
      (await jobsFor('early')) + (await jobsFor('foreign')) === 2 ? true : undefined,
    );
    await withDatabase(addGate);
    await first.stop();
    await copy(data, backup);
    const second = await start();
    for (const { id } of await upstream.books.jobs()) await upstream.books.end(id, 'succeeded');
    assert.equal((await waitForRecord(api, early))['state'], 'success');
    await waitForRecord({ ...api, key: other?.key ?? '' }, foreign);
    late = await createdTask(api, { prompt: 'late', duration: 4 });
    await waitFor('the second job', async () => ((await jobsFor('late')) === 1 ? true : undefined));
    await second.stop();
    await copy(data, join(folder, 'latest'));
  });
  after(async () => {
    await endPrograms();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  const restored = /Restored: (\d+) unfinished tasks refunded, (\d+) outdated workflows terminated\./;

  for (const [what, part, terminated] of [
    ['all of it', '', 0],
    ['an older database beside Temporal as it was', 'postgres', 1],
  ] as const) {
    test(`${what}: unfinished tasks of the copy are refunded, later ones are unknown, and no job is made again`, async () => {
      await copy(join(folder, 'latest'), data);
      await copy(join(backup, part), join(data, part));
      const service = await start('--restored');
      const [, refunded, ended] = restored.exec(service.stdout()) ?? [];
      assert.deepEqual([refunded, ended], ['2', String(terminated)]);
      assert.deepEqual(await stateOf(early), ['fail', 'terminated']);
      assert.equal((await recordInfo(api, late)).status, 404);
      const prompt = `after ${what}`;
      const next = await createdTask(api, { prompt, duration: 4 });
      await waitFor('its job', async () => ((await jobsFor(prompt)) === 1 ? true : undefined));
      const [job] = await upstream.books.jobsFor(prompt);
      await upstream.books.end(job?.id ?? '', 'succeeded');
      assert.equal((await waitForRecord(api, next))['state'], 'success');
      assert.deepEqual([await jobsFor('early'), await jobsFor('late')], [1, 1]);
      await assertBooks();
      await service.stop();
    });
  }

  test('all of it, with a kill between two refunds: the start is repeated, and refunds each task once', async () => {
    await copy(backup, data);
    const refundsOf = (db: Database) =>
      db.run<{ id: string; refunds: number }>({
        name: 'test-refunds',
        text: `select task_id as id, count(*)::int as refunds from ledger_entries where kind = 'refund' group by task_id`,
      });
    await rm(gate());
    const killed = spawnVideogen(env, 'start', '--restored');
    await withDatabase((db) =>
      waitFor('one refund', async () => ((await refundsOf(db).catch(() => [])).length === 1 ? true : undefined)),
    );
    killed.child.kill('SIGKILL');
    await endOf(killed.child);
    assert.doesNotMatch(killed.stdout(), restored);

    await writeFile(gate(), '');
    const service = await start('--restored');
    assert.equal(restored.exec(service.stdout())?.[1], '1', 'the other task was refunded before');
    const refunds = new Map((await withDatabase(refundsOf)).map(({ id, refunds: count }) => [id, count]));
    assert.deepEqual(
      refunds,
      new Map([
        [early, 1],
        [foreign, 1],
      ]),
    );
    assert.deepEqual([await jobsFor('early'), await jobsFor('foreign'), await jobsFor('late')], [1, 1, 1]);
    await assertBooks();
    await service.stop();
  });

  test('an older Temporal beside the database as it was: a plain start ends every task, and no job is made again', async () => {
    await copy(join(folder, 'latest'), data);
    await copy(join(backup, 'temporal'), join(data, 'temporal'));
    const service = await start();
    assert.deepEqual(await stateOf(early), ['success', null]);
    // Its workflow is unknown to this Temporal, which the schedule of reconcile finds within a minute.
    assert.equal((await videogen(env, 'reconcile')).code, 0);
    await waitForRecord(api, late);
    assert.deepEqual(await stateOf(late), ['fail', 'terminated']);
    assert.deepEqual([await jobsFor('early'), await jobsFor('late')], [1, 1]);
    await assertBooks();
    await service.stop();
  });
});
