import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient, type GuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';
import {
  answering,
  hostileReceiver,
  redirecting,
  type HostileReceiver,
} from '../../../support/hostile/hostile-receivers.ts';

const getOptions = { maxBytes: 1000, timeoutMs: 60_000, maxRedirects: 3 };
const postOptions = { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1024 };

// 127.0.0.2 is allowed and stands for a public address, 127.0.0.1 for a private one.
let open: HostileReceiver;
let redirector: HostileReceiver;
let trap: HostileReceiver;
let lookups = 0;

before(async () => {
  open = await hostileReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), '127.0.0.2');
  trap = await hostileReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  redirector = await hostileReceiver(
    redirecting(() => `http://turning.example:${trap.port}/`),
    '127.0.0.2',
  );
});

after(() => Promise.all([open.close(), redirector.close(), trap.close()]));
beforeEach(() => (lookups = 0));

/** Its name leads to the open address once and to the private one ever after. */
function clientOfTurningName(): GuardedClient {
  return createGuardedClient({ allow: parseAllowList('127.0.0.2'), lookup: turningLookup });
}

function turningLookup(): Promise<readonly string[]> {
  lookups += 1;
  return Promise.resolve([lookups === 1 ? '127.0.0.2' : '127.0.0.1']);
}

test('a name is looked up once for an exchange, and the address that was checked is the one connected to', async () => {
  const answer = await clientOfTurningName().post(`http://turning.example:${open.port}/`, postOptions);
  assert.equal(answer.status, 200);
  assert.equal(lookups, 1);
});

test('a name that turned private between two exchanges is refused', async () => {
  const client = clientOfTurningName();
  await client.post(`http://turning.example:${open.port}/`, postOptions);
  await assert.rejects(client.post(`http://turning.example:${trap.port}/`, postOptions), { kind: 'blocked' });
  assert.equal(trap.seen(), 0);
});

test('a name that turns private between a redirect and the next hop is refused', async () => {
  const url = `http://turning.example:${redirector.port}/`;
  await assert.rejects(clientOfTurningName().get(url, getOptions), { kind: 'blocked' });
  assert.equal(lookups, 2);
  assert.equal(trap.seen(), 0);
});
