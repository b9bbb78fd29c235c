import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { clientAddressOf, isFromThisMachine } from '../../../src/api/core/client-address.ts';
import { createBadKeyLimiter, createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { isInNetworks, parseNetworks } from '../../../src/platform/outbound/guard/allow-list.ts';
import { startHttpService } from '../../support/service/http-service.ts';

function requestFrom(peer: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  return new IncomingMessage(socket);
}

function address(peer: string, forwarded: string | undefined, trusted: string): string {
  const req = requestFrom(peer);
  if (forwarded !== undefined) req.headers['x-forwarded-for'] = forwarded;
  const networks = parseNetworks(trusted);
  return clientAddressOf(req, (one) => isInNetworks(one, networks));
}

for (const [what, peer, forwarded, trusted, expected] of [
  ['a peer in a private network is not believed', '10.0.0.7', '203.0.113.1', '', '10.0.0.7'],
  ['nor one on this machine', '::ffff:127.0.0.1', '203.0.113.1', '', '127.0.0.1'],
  ['a trusted proxy is believed', '10.0.0.7', '203.0.113.1', '10.0.0.0/8', '203.0.113.1'],
  ['a trusted proxy that maps IPv4 is, too', '::ffff:10.0.0.7', '203.0.113.1', '10.0.0.0/8', '203.0.113.1'],
  ['what a client put in front counts for nothing', '10.0.0.7', '198.51.100.9, 203.0.113.1', '10.0.0.7', '203.0.113.1'],
  ['proxies behind proxies are skipped', '10.0.0.7', '203.0.113.1, 10.0.0.9', '10.0.0.0/8', '203.0.113.1'],
  ['a trusted proxy that forwards nothing is the client', '10.0.0.7', undefined, '10.0.0.0/8', '10.0.0.7'],
  ['the name of a network interface is ignored', 'fe80::1%br-3f.2', undefined, '', 'fe80:0:0:0'],
  ['also in the header', '10.0.0.7', 'fe80::1%a-b', '10.0.0.0/8', 'fe80:0:0:0'],
  ['of IPv6 the network counts', 'fd00::1', '2001:db8:1:2:3::4', 'fd00::/8', '2001:db8:1:2'],
] as const) {
  test(`the address of a client: ${what}`, () => assert.equal(address(peer, forwarded, trusted), expected));
}

for (const text of ['proxy.internal', '10.0.0.1:80', '10.0.0.1/8']) {
  test(`TRUSTED_PROXIES takes no ${text}`, () => assert.throws(() => parseNetworks(text)));
}

test('a client that no proxy vouches for cannot evade the limit of bad keys with X-Forwarded-For', async () => {
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 3, windowMs: 60_000 }));
  const own = await startHttpService({ badKeys, isTrustedProxy: () => false });
  try {
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const headers = { authorization: 'Bearer x', 'x-forwarded-for': `203.0.113.${n}` };
      statuses.push((await own.send('GET', '/api/v1/credits', { headers })).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429]);
  } finally {
    await own.close();
  }
});

test('a request is from this machine if it comes from loopback, and no proxy has forwarded it', () => {
  for (const peer of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])
    assert.equal(isFromThisMachine(requestFrom(peer)), true, peer);
  for (const peer of ['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1%lo', ''])
    assert.equal(isFromThisMachine(requestFrom(peer)), false, peer);
  for (const header of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    const forwarded = requestFrom('127.0.0.1');
    forwarded.headers[header] = 'anything';
    assert.equal(isFromThisMachine(forwarded), false, header);
  }
});
