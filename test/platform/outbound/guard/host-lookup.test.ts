import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';
import { createDnsOrSystemLookup } from '../../../../src/platform/outbound/guard/host-lookup.ts';
import { hostileNameServer, type HostileNameServer } from '../../../support/hostile/hostile-name-server.ts';

const never = new AbortController().signal;
const postOptions = { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1024 };

async function withNameServer(
  addresses: readonly string[] | undefined,
  use: (nameServer: HostileNameServer) => Promise<void>,
): Promise<void> {
  const nameServer = await hostileNameServer(addresses);
  try {
    await use(nameServer);
  } finally {
    nameServer.close();
  }
}

test('the name of a stranger is asked of DNS, and all its addresses are told', async () => {
  await withNameServer(['8.8.8.8', '127.0.0.1'], async ({ server, asked }) => {
    const lookup = createDnsOrSystemLookup(parseAllowList(''), [server]);
    assert.deepEqual((await lookup('hostile.example', never)).toSorted(), ['127.0.0.1', '8.8.8.8']);
    assert.ok(asked() >= 2, 'IPv4 and IPv6');
  });
});

test('a name whose DNS answer mixes a public and a private address is blocked', async () => {
  await withNameServer(['8.8.8.8', '127.0.0.1'], async ({ server }) => {
    const allow = parseAllowList('');
    const client = createGuardedClient({ allow, lookup: createDnsOrSystemLookup(allow, [server]) });
    await assert.rejects(client.post('http://hostile.example/', postOptions), { kind: 'blocked' });
  });
});

test('a name with more than 64 addresses is refused before any of them is checked', async () => {
  for (const [count, kind] of [
    [64, 'blocked'],
    [65, 'dns'],
  ] as const) {
    // A private address at the end shows whether the addresses were checked.
    const addresses = Array.from({ length: count }, (_, index) => (index === count - 1 ? '10.0.0.1' : '8.8.8.8'));
    const client = createGuardedClient({ allow: parseAllowList(''), lookup: async () => addresses });
    await assert.rejects(client.post('http://many.example/', postOptions), { kind });
  }
});

test('a name without addresses is an error', async () => {
  await withNameServer([], async ({ server }) => {
    await assert.rejects(createDnsOrSystemLookup(parseAllowList(''), [server])('empty.example', never), /ENODATA/);
  });
});

test('a look-up at a silent name server ends with the signal', async () => {
  await withNameServer(undefined, async ({ server }) => {
    const stop = new AbortController();
    const answer = createDnsOrSystemLookup(parseAllowList(''), [server])('silent.example', stop.signal);
    stop.abort();
    await assert.rejects(answer, /ECANCELLED/);
  });
});

test('an allowed name is asked of the system, which knows the hosts file', async () => {
  await withNameServer(['8.8.8.8'], async ({ server, asked }) => {
    const addresses = await createDnsOrSystemLookup(parseAllowList('localhost'), [server])('localhost', never);
    assert.ok(addresses.every((address) => address === '127.0.0.1' || address === '::1'));
    assert.equal(asked(), 0);
  });
});
