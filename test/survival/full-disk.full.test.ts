import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Finding } from '../../src/run/doctor/checks-and-findings.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { type Api, createTask, createdTask, waitForRecord } from '../support/service/call-api.ts';
import { startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { remainingOf } from '../support/processes/processes.ts';
import { endOf, endPrograms } from '../support/processes/programs.ts';
import { mountSmallDisk, skipsWithoutMount, type SmallDisk } from '../support/servers/small-disk.ts';
import { type Running, spawnVideogen, videogen } from '../support/processes/run-videogen.ts';
import { waitFor } from '../support/wait-for.ts';

// `npm start` whose folders are on small disks of their own. Each is filled while a task is rendered and a callback is due.

const folders = {
  'data folder': '.',
  database: 'postgres',
  Temporal: 'temporal',
  'result store': 'results',
  'work folder': 'work',
};
type Folder = keyof typeof folders;

describe('a full disk', { skip: skipsWithoutMount }, () => {
  const disks = new Map<Folder, SmallDisk>();
  let base: string;
  let env: NodeJS.ProcessEnv;
  let running: Running;
  let api: Api;
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;

  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'videogen-full-disk-'));
    for (const [name, path] of Object.entries(folders) as [Folder, string][]) {
      const size = name === 'database' ? { megabytes: 300 } : { megabytes: 60, files: 3_000 };
      disks.set(name, await mountSmallDisk(join(base, path), size));
    }
    receiver = await startCallbackReceiver();
    const port = await reserveFreePort();
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
    const callbacks = { CALLBACK_ALLOW: '127.0.0.1' };
    env = { ...rest, ...callbacks, VIDEOGEN_DATA: base, PORT: String(port), READ_RATE: 'off', CREATE_RATE: 'off' };
    running = spawnVideogen(env, 'start');
    const banner = await waitFor('the key', () => {
      assert.equal(running.child.exitCode, null, running.stderr());
      return /^ {2}export VIDEOGEN_API_KEY=vg_/m.test(running.stdout()) ? running.stdout() : undefined;
    });
    api = { baseUrl: `http://127.0.0.1:${port}`, key: /vg_\w+/.exec(banner)?.[0] ?? '' };
  });
  after(async () => {
    await endPrograms();
    await receiver?.close();
    for (const disk of [...disks.values()].toReversed()) disk.unmount();
    if (base !== undefined) await rm(base, { recursive: true, force: true });
  });

  const diskOf = (name: Folder) => disks.get(name) ?? assert.fail(name);
  const statusOf = async (path: string) => {
    const response = await fetch(`${api.baseUrl}${path}`, { signal: AbortSignal.timeout(60_000) });
    return { status: response.status, text: await response.text() };
  };
  const create = (prompt: string) => createTask(api, { model: 'videogen-2.0-fast', input: { prompt, duration: 4 } });
  const accepted = () => createdTask(api, 'a paper boat', { callBackUrl: receiver.url });
  const dropped = async () =>
    Number(/^videogen_log_lines_dropped_total (\d+)/m.exec((await statusOf('/metrics')).text)?.[1] ?? 'NaN');

  /** Breaks a disk while a task is under way, and makes it usable again. */
  async function survives(
    name: Folder,
    reason: RegExp,
    breakDisk: () => Promise<void> | void,
    mendDisk = () => diskOf(name).empty(),
  ) {
    const taskId = await accepted();
    await breakDisk();
    await waitFor('the reason', async () => {
      assert.equal((await statusOf('/healthz')).status, 200);
      const { status, text } = await statusOf('/readyz');
      return status === 503 && reason.test(text) ? true : undefined;
    });
    for (let times = 0; times < 3; times += 1) {
      const { status, headers, body } = await create('refused');
      assert.deepEqual([status, headers.get('retry-after'), 'error' in body && body.error], [503, '30', 'disk_full']);
    }
    await mendDisk();
    await waitFor('a ready service', async () => ((await statusOf('/readyz')).status === 200 ? true : undefined));
    assert.equal((await waitForRecord(api, taskId))['state'], 'success');
    await waitFor('the callback', () =>
      receiver.received.some(({ body }) => body.includes(taskId)) ? true : undefined,
    );
  }

  for (const name of Object.keys(folders) as Folder[])
    test(`of the ${name} refuses creates without a charge, is named, and loses no task; there is no restart`, async () => {
      await survives(name, new RegExp(`disk full: [^"]*${name}`), () => diskOf(name).fill());
    });

  test('without inodes, or mounted read-only, is treated alike', async () => {
    await survives('result store', /disk full \(no free inodes\): result store/, () =>
      diskOf('result store').useInodes(),
    );
    const { makeReadOnly, makeWritable } = diskOf('work folder');
    await survives('work folder', /disk read-only: work folder/, makeReadOnly, async () => makeWritable());
  });

  test('drops lines of the log and counts them; doctor names the disk', async () => {
    const droppedBefore = await dropped();
    await diskOf('data folder').fill();
    await waitFor('dropped lines', async () => {
      // Each request is a line, and the file may have room for some.
      await create('a line of the log');
      return (await dropped()) > droppedBefore ? true : undefined;
    });
    const { code, stdout } = await videogen(env, 'doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }; // what the command prints
    const found = findings.find(({ check }) => check === 'data folder');
    assert.equal(code, 1);
    assert.match(found?.message ?? '', new RegExp(`^disk full: \\d+ MB free in ${base}`));
    await diskOf('data folder').empty();
    await waitFor('a ready service', async () => ((await statusOf('/readyz')).status === 200 ? true : undefined));
    assert.deepEqual(JSON.parse((await videogen(env, 'audit', '--json')).stdout), { violations: [] });
  });

  test('and kill -9 of the service leave no process behind', async () => {
    await waitFor('a ready service', async () => ((await statusOf('/readyz')).status === 200 ? true : undefined));
    await createdTask(api, 'a film that is being rendered');
    await diskOf('database').fill();
    await diskOf('Temporal').fill();
    running.child.kill('SIGKILL');
    await endOf(running.child);
    assert.deepEqual(await remainingOf({ folder: base }, 180_000), []);
  });
});
