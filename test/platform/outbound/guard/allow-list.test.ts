import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isInNetworks,
  loopbackAllowListText,
  parseAllowList,
  parseNetworks,
} from '../../../../src/platform/outbound/guard/allow-list.ts';

test('hosts, addresses and networks are read, with ports where they are given', () => {
  const list = parseAllowList('minio, MinIO.internal.:9000\n10.0.0.0/8 fd00::/8,[::1]:8080 ::1 192.0.2.7:81');
  assert.deepEqual(list.hosts, [
    { hostname: 'minio', port: undefined },
    { hostname: 'minio.internal', port: 9000 },
  ]);
  assert.deepEqual(
    list.networks.map(({ address, prefixBits, port }) => `${address.toString()}/${prefixBits} ${port ?? 'any'}`),
    ['10.0.0.0/8 any', 'fd00::/8 any', '::1/128 8080', '::1/128 any', '192.0.2.7/32 81'],
  );
});

test('an empty text allows nothing', () => {
  assert.deepEqual(parseAllowList(' , \n'), { hosts: [], networks: [] });
});

test('the default of embedded mode can be read', () => {
  assert.equal(parseAllowList(loopbackAllowListText).networks.length, 2);
});

const bad = [
  '10.0.0.0/33',
  '10.0.0.1/8',
  '10.0/8',
  'fd00::/129',
  'host/8',
  '/8',
  'http://host',
  'user@host',
  'host:0',
  'host:65536',
  'host:port',
  '*.internal',
  '::ffff:10.0.0.1',
  '::ffff:10.0.0.0/104',
  '[::1',
  '256.1.1.1',
  'a:b:c',
  '.',
];

for (const entry of bad) {
  test(`the bad entry ${entry} is named`, () => {
    assert.throws(
      () => parseAllowList(`good.example,${entry}`),
      (error) => error instanceof Error && error.message.startsWith(`"${entry}" `),
    );
  });
}

test('trusted proxies are addresses and networks, without hosts and ports', () => {
  const networks = parseNetworks('10.0.0.0/8, 192.0.2.7 fd00::/8');
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', 'fd00::1'])
    assert.ok(isInNetworks(address, networks));
  for (const address of ['11.0.0.0', '192.0.2.8', '::1', 'fe00::1'])
    assert.ok(!isInNetworks(address, networks), address);
  assert.equal(isInNetworks('10.0.0.1', parseNetworks('')), false);
  assert.throws(() => parseNetworks('10.0.0.0/8 proxy'), /^Error: "proxy" is not an address or a network$/);
  assert.throws(() => parseNetworks('10.0.0.1 192.0.2.7:80'), /must be without ports$/);
});
