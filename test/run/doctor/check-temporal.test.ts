import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  checkTemporal,
  explainTemporalError,
  findTemporalProblem,
  tlsFinding,
} from '../../../src/run/doctor/check-temporal.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { type QueueName, taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { readPollers } from '../../../src/temporal/connection/server-facts.ts';
import { createMissingSchedule, scheduleNames } from '../../../src/temporal/schedules/schedules.ts';
import { temporalAddress } from '../../support/servers/server-addresses.ts';

const targetOf = (namespace: string, address = temporalAddress()) => ({ connection: { address }, namespace });

async function statesOf(target: ReturnType<typeof targetOf>, queues: readonly QueueName[]) {
  const findings = await checkTemporal({ target, taskQueue: `test-${randomUUID()}`, queues });
  return findings.map(({ check, state }) => `${check}: ${state}`);
}

test('doctor reports the schedules and the queues of an installation without workers, and nothing about those of others', async () => {
  const server = ['temporal: ok', 'temporal tls: ok', 'namespace: ok', 'search attributes: ok'];
  const shared = [...server, 'task queue partitions: ok', 'fairness: unknown'];
  const target = targetOf('default');
  assert.deepEqual(await statesOf(target, []), shared);
  assert.deepEqual(await statesOf(target, ['callbacks']), [...shared, 'queue callbacks: error']);
  assert.deepEqual(await statesOf(target, ['tasks', 'generation']), [
    ...shared,
    'schedules: error',
    'queue tasks: error',
    'queue generation: error',
  ]);
  assert.equal(await findTemporalProblem(target), undefined);
});

test('a queue without a worker, and a schedule that is missing or paused, are named, with the command that corrects them', async (t) => {
  const target = targetOf('default');
  const taskQueue = `test-${randomUUID()}`;
  const queues = taskQueuesOf(taskQueue);
  const found = async (check: string) => {
    const findings = await checkTemporal({ target, taskQueue, queues: ['tasks', 'callbacks'] });
    return findings.find((finding) => finding.check === check);
  };
  const [first, second, ...others] = scheduleNames.map((name) => `${taskQueue}-${name}`);
  const remedy = 'Start a worker of the queue tasks; a running one creates missing schedules again within a minute.';
  const missing = { check: 'schedules', state: 'error', remedy };
  const all = [first, second, ...others].join(', ');
  assert.deepEqual(await found('schedules'), { ...missing, message: `missing: ${all}` });
  assert.deepEqual(await found('queue callbacks'), {
    check: 'queue callbacks',
    state: 'error',
    message: `no worker serves ${taskQueue}-callbacks, so its work waits`,
    remedy: 'Start a worker: videogen worker --queues callbacks',
  });
  const { client, close } = connectTemporal(target);
  const handleOf = (id = '') => client.schedule.getHandle(id);
  for (const name of scheduleNames) await createMissingSchedule(client, queues, name);
  t.after(async () => {
    await Promise.all([second, ...others].map((id) => handleOf(id).delete()));
    await close();
  });
  const exist = `${scheduleNames.length} exist, and none is paused`;
  assert.deepEqual(await found('schedules'), { check: 'schedules', state: 'ok', message: exist });
  await handleOf(second).pause();
  // Temporal processes a pause after it has answered.
  while (!(await handleOf(second).describe()).state.paused) await setTimeout(20);
  assert.deepEqual(await found('schedules'), {
    check: 'schedules',
    state: 'warning',
    message: `${second} is paused`,
    remedy: `temporal schedule toggle --unpause --schedule-id ${second} --reason back`,
  });
  await handleOf(first).delete();
  assert.deepEqual(await found('schedules'), { ...missing, message: `missing: ${first}` });
});

/** Polls a queue for tasks of these kinds, as a worker without a version does, until the test ends. */
async function pollQueue(t: TestContext, queue: string, kinds: readonly ('workflow' | 'activity')[]): Promise<void> {
  const { client, close } = connectTemporal(targetOf('default'));
  const request = { namespace: 'default', taskQueue: { name: queue, kind: 1 }, identity: randomUUID() };
  const { workflowService } = client;
  const poll: Readonly<Record<'workflow' | 'activity', () => Promise<object>>> = {
    workflow: () => workflowService.pollWorkflowTaskQueue(request),
    activity: () => workflowService.pollActivityTaskQueue(request),
  };
  const stop = new AbortController();
  const polls = kinds.map((kind) =>
    client.connection.withAbortSignal(stop.signal, () => client.withDeadline(Date.now() + 60_000, poll[kind])),
  );
  t.after(async () => {
    stop.abort();
    await Promise.allSettled(polls);
    await close();
  });
  const listed = async () => {
    for (const kind of kinds)
      while ((await readPollers(client, queue, kind)).workers.length === 0) await setTimeout(20);
  };
  await Promise.race([listed(), ...polls]);
}

for (const [kinds, state, message] of [
  [['workflow'], 'error', /^no worker serves /],
  [['activity'], 'error', /^no worker serves /],
  [['workflow', 'activity'], 'ok', /is served by 1 worker$/],
] as const) {
  test(`the queue of tasks is ${state} with a worker for tasks of kind ${kinds.join(' and ')}`, async (t) => {
    const taskQueue = `test-${randomUUID()}`;
    await pollQueue(t, taskQueuesOf(taskQueue).tasks, kinds);
    const findings = await checkTemporal({ target: targetOf('default'), taskQueue, queues: ['tasks'] });
    const finding = findings.find(({ check }) => check === 'queue tasks');
    assert.equal(finding?.state, state);
    assert.match(finding?.message ?? '', message);
  });
}

const rest = ['search attributes', 'task queue partitions', 'schedules', 'queue tasks'].map(
  (name) => `${name}: unknown`,
);

test('without its namespace an installation has an error, and what is in it is not checked', async () => {
  const target = targetOf(`none-${randomUUID()}`);
  const states = ['temporal: ok', 'temporal tls: ok', 'namespace: error', ...rest];
  assert.deepEqual(await statesOf(target, ['tasks']), states);
  assert.match((await findTemporalProblem(target)) ?? '', new RegExp(`no namespace ${target.namespace}`));
});

test('a Temporal that does not answer is an error, and the rest is not checked', async () => {
  const address = `127.0.0.1:${await reserveFreePort()}`;
  const target = targetOf('default', address);
  assert.deepEqual(await statesOf(target, ['tasks']), ['temporal: error', 'namespace: unknown', ...rest]);
  assert.match((await findTemporalProblem(target)) ?? '', new RegExp(`^Temporal at ${address} cannot be used`));
});

const certificate = { crt: Buffer.from('c'), key: Buffer.from('k') };

for (const [connection, state, message] of [
  [{ address: 'temporal:7233', tls: true }, 'ok', /^used$/],
  [{ address: 'temporal:7233', tls: {} }, 'ok', /^used$/],
  [{ address: 'temporal:7233', tls: { clientCertPair: certificate } }, 'ok', /^used, with a client certificate$/],
  [{ address: 'localhost:7233' }, 'ok', /on this machine/],
  [{ address: '127.0.0.1:7233', tls: null }, 'ok', /on this machine/],
  [{ address: '[::1]:7233', tls: false }, 'ok', /on this machine/],
  [{ address: 'temporal:7233' }, 'warning', /unencrypted/],
  [{ address: 'temporal:7233', tls: false }, 'warning', /unencrypted/],
  [{ address: '127.0.0.10:7233' }, 'warning', /unencrypted/],
  [{}, 'warning', /unencrypted/],
] as const) {
  test(`a connection to Temporal with ${JSON.stringify(connection)} is ${state}`, () => {
    const finding = tlsFinding({ connection, namespace: 'default' });
    assert.deepEqual([finding.check, finding.state], ['temporal tls', state]);
    assert.match(finding.message, message);
  });
}

test('an error of Temporal is explained by its status, then by its words', () => {
  const ofGrpc = (code: number, message: string) =>
    Object.assign(new Error(message), { code, details: message, metadata: {} });
  for (const [error, remedy] of [
    [ofGrpc(7, 'denied'), /^Correct TEMPORAL_API_KEY/],
    [ofGrpc(16, 'bad certificate'), /^Correct TEMPORAL_API_KEY/],
    [ofGrpc(12, 'no method'), /is not Temporal/],
    [ofGrpc(14, 'the certificate has expired'), /^Correct TEMPORAL_TLS,/],
    [ofGrpc(14, 'ECONNREFUSED'), /^Check TEMPORAL_ADDRESS/],
    [new Error('ECONNREFUSED'), /^Check TEMPORAL_ADDRESS/],
    [new Error('it failed', { cause: new Error('wrong version number') }), /^Correct TEMPORAL_TLS,/],
  ] as const) {
    const [message, found] = explainTemporalError(error);
    assert.match(found, remedy, message);
    assert.equal(message, error.cause instanceof Error ? error.cause.message : error.message);
  }
});
