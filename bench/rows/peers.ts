import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench } from '../bench.ts';
import { startChild, type Child } from '../child.ts';
import { findRedis, startRedis } from '../peers/redis.ts';
import { lostJobs, measurePeer, type Measured, type Peer } from '../peers/measure-peer.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { type Row, showMs, times } from '../row.ts';
import { benchAccounts, benchService } from '../service.ts';
import { taskBody } from './create-task.ts';

const run = promisify(execFile);
const peersFolder = fileURLToPath(new URL('../../../bench/peers/', import.meta.url));

/** What people would pick instead, doing the same job: accept over HTTP, work that takes no time, a record, a callback. */
export async function peerRows(bench: Bench, say: (text: string) => void): Promise<readonly Row[]> {
  const receiver = await startReceiver();
  try {
    const ours = await withOurs(bench, receiver, (peer) => measurePeer(bench, peer, receiver));
    const textbook = await withTextbook(bench, receiver, (peer) => measurePeer(bench, peer, receiver));
    const rows = [rowOf('Temporal, used in the textbook way', textbookPromises, textbook, ours)];
    return [...rows, ...(await bullmqRows(bench, receiver, ours, say))];
  } finally {
    await receiver.child.stop();
  }
}

const textbookPromises =
  'no create while Temporal is unavailable, no reading without a worker; its charge is made nowhere, and would be a second database';

async function bullmqRows(
  bench: Bench,
  receiver: Receiver,
  ours: Measured,
  say: (text: string) => void,
): Promise<readonly Row[]> {
  const redisPath = await findRedis();
  if (redisPath === undefined) {
    say('no redis-server on the PATH and no REDIS_SERVER_PATH, so the rows on BullMQ are left out');
    return [];
  }
  await installPeers();
  const rows: Row[] = [];
  for (const [what, options, promises] of redisVariants) {
    const folder = join(bench.folder, `redis-${rows.length}`);
    const measured = await withBullmq({ redisPath, folder, options }, receiver, (peer) =>
      measurePeer(bench, peer, receiver),
    );
    const lost = await lostJobs({ redisPath, folder: `${folder}-killed`, options, receiver, start: startBullmqApi });
    const words = `${promises}; kill -9 of Redis lost ${lost.lost} of ${lost.accepted} accepted jobs`;
    rows.push(rowOf(what, words, measured, ours));
  }
  return rows;
}

const noMoney = 'no charge, no refund, no transaction with money, a callback that fails starts the work again';
const redisVariants = [
  ['BullMQ, Redis as it ships (snapshots only)', [], noMoney],
  ['BullMQ, Redis with appendonly, fsync always', ['--appendonly', 'yes', '--appendfsync', 'always'], noMoney],
] as const;

/** The peers' packages are not the product's; they are installed when first wanted. Their native extras lack platforms in the lock. */
async function installPeers(): Promise<void> {
  const isInstalled = await access(join(peersFolder, 'node_modules', 'bullmq')).then(
    () => true,
    () => false,
  );
  if (!isInstalled) await run('npm', ['install', '--no-save', '--omit=optional', '--prefix', peersFolder]);
}

type Work<T> = (peer: Peer) => Promise<T>;

async function withOurs<T>(bench: Bench, receiver: Receiver, work: Work<T>): Promise<T> {
  const service = await benchService(bench, bench.temporal.address);
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
  const env = { ...process.env, TEMPORAL_ADDRESS: bench.temporal.address, VIDEOGEN_TASK_QUEUE: queue };
  const worker = startChild('./peers/textbook-worker.js', env);
  const api = await startPeerApi('./peers/textbook-api.js', env);
  try {
    return await work({ ...barePeer(receiver), baseUrl: api.baseUrl, worker });
  } finally {
    await Promise.all([api.stop(), worker.stop()]);
  }
}

async function withBullmq<T>(
  { redisPath, folder, options }: { redisPath: string; folder: string; options: readonly string[] },
  receiver: Receiver,
  work: Work<T>,
): Promise<T> {
  const redis = await startRedis(redisPath, folder, options);
  const env = { ...process.env, REDIS_PORT: String(redis.port) };
  const worker = startChild('../../bench/peers/bullmq-worker.mjs', env);
  const api = await startBullmqApi(redis.port);
  try {
    return await work({ ...barePeer(receiver), baseUrl: api.baseUrl, worker });
  } finally {
    await Promise.all([api.stop(), worker.stop()]);
    await redis.kill('SIGTERM');
  }
}

function barePeer({ url }: Receiver): Omit<Peer, 'baseUrl' | 'worker'> {
  const body = { ...taskBody, callBackUrl: url };
  return { createPath: '/', readPath: (id) => `/?id=${id}`, keyOf: () => undefined, body };
}

function startBullmqApi(redisPort: number): Promise<Child & { readonly baseUrl: string }> {
  return startPeerApi('../../bench/peers/bullmq-api.mjs', { ...process.env, REDIS_PORT: String(redisPort) });
}

async function startPeerApi(script: string, env: NodeJS.ProcessEnv): Promise<Child & { readonly baseUrl: string }> {
  const port = await freePort();
  const child = startChild(script, { ...env, NODE_ENV: 'production', PORT: String(port) });
  let isReady = false;
  child.onSaid(() => (isReady = true));
  await waitFor(script, () => (isReady ? true : undefined), 30_000);
  return { ...child, baseUrl: `http://127.0.0.1:${port}` };
}

function rowOf(what: string, promises: string, theirs: Measured, ours: Measured): Row {
  const show = (one: Measured) =>
    `accepted ${perSecond(one.accepted)}, whole with callback ${perSecond(one.whole)}, read ${perSecond(one.reads)}, ` +
    `done → visible p50 ${showMs(one.visibleMs)}`;
  const share = (name: 'accepted' | 'whole' | 'reads') => times(theirs[name] / ours[name]);
  return {
    what: `peer: ${what}, 32 callers`,
    floor: `Videogen, the same run: ${show(ours)}`,
    measured: show(theirs),
    ratio: `accepted ${share('accepted')}, whole ${share('whole')}, read ${share('reads')} ours`,
    target: `does not promise: ${promises}`,
    isReached: undefined,
  };
}

function perSecond(rate: number): string {
  return `${rate < 100 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en')}/s`;
}
