import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { checkTemporal, findTemporalProblem } from '../../../src/run/doctor/check-temporal.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import type { QueueName } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
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
