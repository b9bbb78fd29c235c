import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { call, createTask } from '../support/service/call-api.ts';
import { listens } from '../support/processes/listens.ts';
import { createTestAccount } from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { checkOrders, reportLoad } from './after-restart-checks.ts';
import { type Load, startLoad } from './production-load.ts';
import type { ServerProcess } from '../support/servers/server-process.ts';
import { skipsWithoutPrograms, startTopology, type Topology } from './topology.ts';

const clients = 6;
const say = (line: string) => process.stdout.write(`# ${line}\n`);

describe('an installation of several processes of each kind', { skip: skipsWithoutPrograms }, () => {
  let topology: Topology;
  before(async () => {
    const startedAt = performance.now();
    topology = await startTopology({ GENERATION_CONCURRENCY: '6' });
    say(`the installation started in ${secondsSince(startedAt)} s`);
  });
  after(() => topology?.close());

  test('a restart of every process, one after the other, fails no call of a client, and loses and doubles nothing', async () => {
    const load = await startLoad(topology, clients);
    const { apis, workers, temporal, postgres, store } = topology;
    try {
      await moves(load);
      for (const [index, api] of apis.entries()) {
        await restarted(api, load);
        // An orchestrator stops the next one when the load balancer uses this one.
        await topology.waitForBalancer(index);
      }
      const rest = [...workers, ...temporal.histories, temporal.frontend, temporal.matching, temporal.worker];
      for (const member of [...rest, postgres, store]) {
        await restarted(member, load);
        await moves(load);
      }
      await load.finish();
      process.stdout.write(reportLoad(load));
      await checkOrders(topology, load);
    } finally {
      await load.close();
    }
  });

  test('kill -9 of a history node and of a worker under load: the same', async () => {
    const load = await startLoad(topology, clients);
    const [[history], [worker]] = [topology.temporal.histories, topology.workers];
    try {
      await moves(load);
      for (const member of [history, worker]) {
        await member.kill();
        const killedAt = performance.now();
        await moves(load);
        say(`${member.name}: killed; the next ${clients} tasks ended within ${secondsSince(killedAt)} s`);
        await member.start();
        await moves(load);
      }
      await load.finish();
      process.stdout.write(reportLoad(load));
      await checkOrders(topology, load);
    } finally {
      await load.close();
    }
  });

  test('SIGTERM: /readyz answers 503 first, the balancer takes the API out, the listener closes, and running requests are answered', async () => {
    const [api] = topology.apis;
    const [url] = topology.apiUrls;
    const { key } = await createTestAccount(topology.world.database);
    const asked = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] [[slow 9s]] begun', duration: 4 } };
    const running = await createTask({ baseUrl: url, key }, asked);
    const path = `/api/v1/jobs/recordInfo?taskId=${String(running.body.data['taskId'])}`;
    const held = call({ baseUrl: url, key }, path, { headers: { prefer: 'wait=30' } });
    const slow = await slowCreate(url, key, JSON.stringify(asked));
    const startedAt = performance.now();
    const seen: Record<string, number> = {};
    const note = (what: string) => void (seen[what] ??= secondsSince(startedAt));
    const stopped = api.stop().then(() => note('ended'));
    await waitFor('the closed listener', async () => {
      const { status } = await fetch(`${url}/readyz`).catch(() => ({ status: undefined }));
      if (status === 503) note('not ready');
      if (!topology.sends(0)) note('taken out');
      if (status === 503 && seen['still accepts'] === undefined) {
        const late = await createTask({ baseUrl: url, key }, asked);
        if (late.status === 200) note('still accepts');
      }
      if ((await listens(Number(new URL(url).port))) !== undefined) return undefined;
      note('listener closed');
      return true;
    });
    assert.equal(await slow.finish(), 200);
    note('slow request answered');
    // It has the state of that instant. The client reads again at another API.
    assert.equal((await held).status, 200);
    await stopped;
    await api.start();
    await topology.waitForBalancer(0);
    say(`SIGTERM, seconds: ${JSON.stringify(seen)}`);
    const order = ['not ready', 'taken out', 'listener closed', 'slow request answered', 'ended'];
    const times = order.map((what) => seen[what] ?? Number.NaN);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
      JSON.stringify(seen),
    );
    assert.ok((seen['still accepts'] ?? Number.NaN) <= (seen['listener closed'] ?? 0), JSON.stringify(seen));
  });
});

/** Stops a process as an orchestrator does, and starts it again. */
async function restarted(member: ServerProcess, load: Load): Promise<void> {
  const [startedAt, before_] = [performance.now(), load.orders.length];
  await member.stop();
  const stoppedAfter = secondsSince(startedAt);
  await member.start();
  const orders = load.orders.length - before_;
  say(`${member.name}: ended after ${stoppedAfter} s, ready after ${secondsSince(startedAt)} s; ${orders} tasks begun`);
}

/** Every client goes on: as many tasks as there are clients have been begun anew. */
async function moves(load: Load): Promise<void> {
  const before_ = load.orders.length;
  await waitFor('the clients to go on', () => (load.orders.length >= before_ + clients ? true : undefined));
}

/** A create whose body comes in two parts; resolves when the first is on its way. */
async function slowCreate(url: string, key: string, body: string) {
  const sent = request(`${url}/api/v1/jobs/createTask`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (answer) => resolve(answer.resume().statusCode));
  });
  await new Promise((resolve) => sent.write(body.slice(0, 10), resolve));
  return {
    finish: () => {
      sent.end(body.slice(10));
      return status;
    },
  };
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 100) / 10;
}
