import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, test } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient, type GuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';
import { OutboundError } from '../../../../src/platform/outbound/outbound-error.ts';
import {
  answering,
  hostileReceiver,
  redirecting,
  type HostileReceiver,
} from '../../../support/hostile/hostile-receivers.ts';
import { hostileTargets, type HostileTarget } from '../../../support/hostile/hostile-targets.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const getOptions = { maxBytes: 1000, timeoutMs: 60_000, maxRedirects: 3 };
const postOptions = { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1024 };
const lost = new Error('no such name');

let trap: HostileReceiver;
let redirector: HostileReceiver;
let location = '';
let connections = 0;
const count = () => void (connections += 1);

before(async () => {
  trap = await hostileReceiver(answering(ok));
  // 127.0.0.2 stands for a public address: allowed, while the rest of loopback is not.
  redirector = await hostileReceiver(
    redirecting(() => location),
    '127.0.0.2',
  );
  // Node tells of every TCP socket that is opened as a client; TLS begins on such a socket too.
  subscribe('net.client.socket', count);
});

after(async () => {
  unsubscribe('net.client.socket', count);
  await trap.close();
  await redirector.close();
});

/** A client that allows 127.0.0.2 only, and for which every name resolves as the target says. */
function clientFor(target: HostileTarget): GuardedClient {
  const lookup = () => (target.answers ? Promise.resolve(target.answers) : Promise.reject(lost));
  return createGuardedClient({ allow: parseAllowList('127.0.0.2'), lookup });
}

async function failureOf(work: Promise<unknown>): Promise<OutboundError> {
  const failure: unknown = await work.then(
    () => assert.fail('the request got through'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof OutboundError, String(failure));
  return failure;
}

test('no hostile target is ever connected to', async (t) => {
  const targets = hostileTargets(trap.port);
  assert.ok(targets.length >= 60);
  for (const target of targets) {
    await t.test(`image: ${target.title}`, async () => {
      connections = 0;
      const failure = await failureOf(clientFor(target).get(target.url, getOptions));
      assert.equal(failure.kind, 'blocked');
      assert.equal(connections, 0);
    });
    await t.test(`callback: ${target.title}`, async () => {
      connections = 0;
      const failure = await failureOf(clientFor(target).post(target.url, postOptions));
      assert.equal(failure.kind, 'blocked');
      assert.equal(connections, 0);
    });
    await t.test(`redirect to: ${target.title}`, async () => {
      connections = 0;
      location = target.url;
      const failure = await failureOf(clientFor(target).get(`http://127.0.0.2:${redirector.port}/`, getOptions));
      assert.equal(failure.kind, 'blocked');
      assert.equal(connections, 1, 'the redirector alone');
    });
  }
  assert.equal(trap.seen(), 0);
});

test('the trap is real: what the list allows gets through to it', async () => {
  connections = 0;
  const client = createGuardedClient({ allow: parseAllowList('127.0.0.1') });
  const answer = await client.get(`http://2130706433:${trap.port}/`, getOptions);
  assert.equal(answer.body.toString(), 'ok');
  assert.equal(connections, 1);
});

test('a callback does not follow a redirect', async () => {
  location = `http://127.0.0.2:${redirector.port}/`;
  connections = 0;
  const client = createGuardedClient({ allow: parseAllowList('127.0.0.2') });
  const answer = await client.post(location, postOptions);
  assert.equal(answer.status, 302);
  assert.equal(connections, 1);
});

test('blocked, unknown and dead addresses read the same to a client', async () => {
  const dead = await hostileReceiver(() => {});
  await dead.close();
  const client = createGuardedClient({
    allow: parseAllowList('127.0.0.1'),
    lookup: (name) => (name === 'inner.example' ? Promise.resolve(['10.0.0.1']) : Promise.reject(lost)),
  });
  const urls = ['http://inner.example/', 'http://unknown.example/', `http://127.0.0.1:${dead.port}/`];
  const failures = await Promise.all(urls.map((url) => failureOf(client.get(url, getOptions))));
  assert.deepEqual(
    failures.map((failure) => failure.kind),
    ['blocked', 'dns', 'connect'],
  );
  assert.equal(new Set(failures.map((failure) => failure.message)).size, 1);
});
