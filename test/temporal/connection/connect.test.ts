import { Connection, ServiceError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callWithin,
  connectTemporal,
  isNotFound,
  isUnavailable,
  usingTemporal,
} from '../../../src/temporal/connection/connect.ts';

/** All codes of gRPC. Of those from which a repeated call recovers, Temporal uses these three. */
const codes = Array.from({ length: 17 }, (_, code) => code);
const unavailable = [4, 8, 14];
const notFound = 5;

for (const [what, wrapped] of [
  ['of gRPC', (cause: Error) => cause],
  ['of the client', (cause: Error) => new ServiceError('Failed to start Workflow', { cause })],
] as const) {
  test(`an error ${what} is an outage by its code: deadline, exhausted resources, unavailable; and no other`, () => {
    const errors = codes.map((code) =>
      wrapped(Object.assign(new Error(`code ${code}`), { code, details: '', metadata: {} })),
    );
    assert.deepEqual(
      codes.filter((code) => isUnavailable(errors[code])),
      unavailable,
    );
    assert.deepEqual(
      codes.filter((code) => isNotFound(errors[code])),
      [notFound],
    );
  });
}

test('any other error is neither an outage nor a missing workflow', () => {
  for (const error of [new Error('14 UNAVAILABLE'), { code: 14 }, undefined, new ServiceError('no cause')])
    assert.deepEqual([isUnavailable(error), isNotFound(error)], [false, false]);
});

/** Nothing listens there, and nothing connects before the first call. */
const target = { connection: { address: '127.0.0.1:9' }, namespace: 'films' };

function connectionOf({ connection }: { readonly connection: unknown }): Connection {
  assert.ok(connection instanceof Connection);
  return connection;
}

test('a client has its namespace, and retries and interceptors as they were asked for', async (t) => {
  const interceptors = { workflow: [{}] };
  const [retrying, single] = [connectTemporal(target, { interceptors }), connectTemporal(target, { retries: false })];
  t.after(() => Promise.all([retrying.close(), single.close()]));
  assert.deepEqual([retrying.client.options.namespace, single.client.options.namespace], ['films', 'films']);
  assert.equal(retrying.client.options.interceptors?.workflow, interceptors.workflow);
  // The SDK's own interceptor retries.
  assert.deepEqual(
    [retrying, single].map(({ client }) => connectionOf(client).options.interceptors.length),
    [1, 0],
  );
  // The SDK's default is two minutes.
  const { channelArgs } = connectionOf(single.client).options;
  assert.equal(channelArgs['grpc.max_reconnect_backoff_ms'], 1_000);
  assert.equal(channelArgs['grpc.initial_reconnect_backoff_ms'], 250);
});

test('a call has a deadline, and a client is closed after its use, also when that fails', async () => {
  const used: Connection[] = [];
  const call = async () => {
    await usingTemporal(target, { retries: false }, async (client) => {
      used.push(connectionOf(client));
      await callWithin(client, 1, () => client.workflow.getHandle('none').describe());
    });
  };
  await assert.rejects(call(), (error) => isUnavailable(error));
  const result = await usingTemporal(target, {}, async (client) => used.push(connectionOf(client)));
  assert.equal(result, 2);
  for (const { workflowService } of used) await assert.rejects(workflowService.getSystemInfo({}), /shut down/);
});
