import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { type OwnUpstream, startOwnUpstream } from '../fakes/own-upstream.ts';
import { type Api, createdTask, recordInfo, waitForRecord } from '../support/api.ts';
import { endOf, endPrograms } from '../support/programs.ts';
import { spawnVideogen, videogen } from '../support/videogen.ts';
import { waitFor } from '../support/wait-for.ts';

// The data folder of `npm start` is restored from a copy, as docs/operations/backup.md says: all of it, its database, or its Temporal. An
// upstream with books of its own shows that no job is paid for twice.

const run = promisify(execFile);

/** Video models take the names of the standard ones; the film of the fake fits no order. */
const catalogueOf = (address: string) => `
providers:
  gpu: { kind: own, baseUrl: 'http://${address}' }
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
  let [early, late] = ['', ''];

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
    const port = await freePort();
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
    const settings = { VIDEOGEN_DATA: data, VIDEOGEN_MODELS: join(folder, 'catalogue.yaml'), PORT: String(port) };
    env = { ...rest, ...settings, READ_RATE: 'off' };
    api = { baseUrl: `http://127.0.0.1:${port}`, key: '' };

    // A task whose job runs is in the copy. After it, the job ends, and another task begins.
    const first = await start();
    api = { ...api, key: /vg_\w+/.exec(first.stdout())?.[0] ?? '' };
    early = await createdTask(api, { prompt: 'early', duration: 4 });
    await waitFor('the first job', async () => ((await jobsFor('early')) === 1 ? true : undefined));
    await first.stop();
    await copy(data, backup);
    const second = await start();
    const [job] = await upstream.books.jobs();
    await upstream.books.end(job?.id ?? '', 'succeeded');
    assert.equal((await waitForRecord(api, early))['state'], 'success');
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
      assert.deepEqual([refunded, ended], ['1', String(terminated)]);
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
