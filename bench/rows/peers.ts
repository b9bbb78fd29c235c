import { randomBytes } from 'node:crypto';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench, Rows } from '../bench.ts';
import { startChild, type Child } from '../child.ts';
import { measurePeer, type Measured, type Peer } from '../peers/measure-peer.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { quiet } from '../quiet.ts';
import { type Row, showMs, showRate, times } from '../row.ts';
import { benchAccounts, benchService } from '../service.ts';
import { taskBody } from '../task-client.ts';

/**
 * Measures a service on Temporal alone on the same work: accept over HTTP, a job
 * that takes no time, a record, and a callback.
 */
export async function* peerRows(bench: Bench): Rows {
  const receiver = await startReceiver();
  try {
    const ours = await withOurs(bench, receiver, (peer) => measurePeer(bench, peer, receiver));
    await quiet([bench.engine.pid]);
    const textbook = await withTextbook(bench, receiver, (peer) => measurePeer(bench, peer, receiver));
    yield rowOf(`Temporal, used in the textbook way, ${bench.engine.name}`, textbookPromises, textbook, ours);
  } finally {
    await receiver.child.stop();
  }
}

const textbookPromises =
  'no create while Temporal is unavailable, no reading without a worker; its charge is made nowhere, and would be a second database';

type Work<T> = (peer: Peer) => Promise<T>;

async function withOurs<T>(bench: Bench, receiver: Receiver, work: Work<T>): Promise<T> {
  const service = await benchService(bench, bench.engine.address);
  const accounts = await benchAccounts(service.db, 32);
  try {
    const { baseUrl } = await service.startApi();
    const worker = service.startWorker('./watched-worker.js');
    const body = { ...taskBody, callBackUrl: receiver.url };
    return await work({
      baseUrl,
      worker,
      createPath: '/api/v1/jobs/createTask',
      readPath: (id) => `/api/v1/jobs/recordInfo?taskId=${id}`,
      keyOf: (caller) => accounts[caller % accounts.length]?.key,
      body,
    });
  } finally {
    await service.close();
  }
}

async function withTextbook<T>(bench: Bench, receiver: Receiver, work: Work<T>): Promise<T> {
  const queue = `textbook-${randomBytes(4).toString('hex')}`;
  const env = { ...process.env, TEMPORAL_ADDRESS: bench.engine.address, VIDEOGEN_TASK_QUEUE: queue };
  const worker = startChild('./peers/textbook-worker.js', env);
  const api = await startPeerApi('./peers/textbook-api.js', env);
  try {
    return await work({ ...barePeer(receiver), baseUrl: api.baseUrl, worker });
  } finally {
    await Promise.all([api.stop(), worker.stop()]);
  }
}

function barePeer({ url }: Receiver): Omit<Peer, 'baseUrl' | 'worker'> {
  const body = { ...taskBody, callBackUrl: url };
  return { createPath: '/', readPath: (id) => `/?id=${id}`, keyOf: () => undefined, body };
}

async function startPeerApi(script: string, env: NodeJS.ProcessEnv): Promise<Child & { readonly baseUrl: string }> {
  const port = await reserveFreePort();
  const child = startChild(script, { ...env, NODE_ENV: 'production', PORT: String(port) });
  let isReady = false;
  child.onSaid(() => (isReady = true));
  await waitFor(script, () => (isReady ? true : undefined));
  return { ...child, baseUrl: `http://127.0.0.1:${port}` };
}

function rowOf(what: string, promises: string, theirs: Measured, ours: Measured): Row {
  const show = (one: Measured) =>
    `accepted ${showRate(one.accepted)}, whole with callback ${showRate(one.whole)}, read ${showRate(one.reads)}, ` +
    `done → visible p50 ${showMs(one.visibleMs)}`;
  const share = (name: 'accepted' | 'whole' | 'reads') => times(theirs[name] / ours[name]);
  return {
    what: `peer: ${what}, 32 callers`,
    floor: `Videogen, the same run: ${show(ours)}`,
    measured: show(theirs),
    ratio: `accepted ${share('accepted')}, whole ${share('whole')}, read ${share('reads')} ours`,
    target: `does not promise: ${promises}`,
    isReached: undefined,
    isFirst: true,
  };
}
