import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { loopbackAllowListText, parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';
import { isOwnEndpoint } from '../../../../src/platform/outbound/guard/guard.ts';
import { answering, hostileReceiver, type HostileReceiver } from '../../../support/hostile/hostile-receivers.ts';

const getOptions = { maxBytes: 1000, timeoutMs: 60_000, maxRedirects: 3 };
const postOptions = { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1024 };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** A server of ours, which counts its connections, and another program on this machine. */
let own: HostileReceiver;
let other: HostileReceiver;
let redirector: HostileReceiver;

before(async () => {
  own = await hostileReceiver(answering(ok), '::');
  other = await hostileReceiver(answering(ok));
  redirector = await hostileReceiver(
    answering(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${own.port}/\r\ncontent-length: 0\r\n\r\n`),
  );
});
after(() => Promise.all([own.close(), other.close(), redirector.close()]));

function newClient(allow = loopbackAllowListText) {
  const endpoints = [{ host: '127.0.0.1', port: own.port }];
  const lookup = () => Promise.resolve(['127.0.0.1']);
  return createGuardedClient({ allow: parseAllowList(allow), own: endpoints, lookup });
}

const everything = '0.0.0.0/0,::/0';
const ourAddresses = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ scopeid }) => scopeid === undefined || scopeid === 0)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

const spellings = [
  '127.0.0.1',
  '127.8.9.10',
  'localhost',
  '[::1]',
  '0.0.0.0',
  '[::]',
  '[::ffff:127.0.0.1]',
  'name.example',
];

for (const host of new Set([...spellings, ...ourAddresses])) {
  test(`a port of our own is never connected to at ${host}, whatever is allowed`, async () => {
    for (const allow of [`${everything},localhost`, `${everything},localhost:${own.port}`]) {
      const client = newClient(allow);
      const url = `http://${host}:${own.port}/`;
      await assert.rejects(client.get(url, getOptions), { kind: 'blocked' });
      await assert.rejects(client.post(url, postOptions), { kind: 'blocked' });
    }
    assert.equal(own.seen(), 0);
  });
}

test('a redirect does not lead to a port of our own either', async () => {
  const url = `http://127.0.0.1:${redirector.port}/`;
  await assert.rejects(newClient().get(url, getOptions), { kind: 'blocked' });
  assert.deepEqual([redirector.seen(), own.seen()], [1, 0]);
});

test('other ports of this machine are let through as the list says', async () => {
  const url = `http://127.0.0.1:${other.port}/`;
  assert.equal((await newClient().get(url, getOptions)).body.toString(), 'ok');
  assert.equal((await newClient().post(url, postOptions)).status, 200);
});

test('of another machine only the endpoint that is named is ours', async () => {
  const database = [{ host: '10.0.0.5', port: 5432 }];
  assert.ok(await isOwnEndpoint('10.0.0.5', 5432, database));
  assert.ok(await isOwnEndpoint('::ffff:10.0.0.5', 5432, database));
  assert.ok(await isOwnEndpoint('127.0.0.1', 5432, database), 'it may be forwarded here');
  assert.ok(!(await isOwnEndpoint('10.0.0.5', 5433, database)));
  assert.ok(!(await isOwnEndpoint('10.0.0.6', 5432, database)));
});

test('a host is ours by its name too, and one that cannot be looked up might be anywhere', async () => {
  assert.ok(await isOwnEndpoint('127.0.0.1', 5432, [{ host: 'localhost', port: 5432 }]));
  assert.ok(await isOwnEndpoint('::1', 7233, [{ host: '[::1]', port: 7233 }]));
  assert.ok(await isOwnEndpoint('10.0.0.5', 5432, [{ host: 'no-such-host.invalid', port: 5432 }]));
});
