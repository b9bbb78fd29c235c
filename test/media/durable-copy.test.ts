import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedSync } from '../../src/media/durable-copy.ts';

type Write = { readonly folder: string; end(error?: Error): void };

/** Writes that end when the test says so. */
function heldWrites() {
  const writes: Write[] = [];
  const sync = createSharedSync((folder) => {
    return new Promise<void>((resolve, reject) => {
      writes.push({ folder, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  });
  return { writes, sync };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a call during a write of the folder waits for a write that began after the call', async () => {
  const { writes, sync } = heldWrites();
  const first = sync('results');
  const later = [sync('results'), sync('results')];
  let served = 0;
  for (const one of later) void one.then(() => (served += 1));
  writes[0]?.end();
  await first;
  await turn();
  assert.deepEqual([writes.length, served], [2, 0], 'the first writing may have come before what they put there');
  writes[1]?.end();
  await Promise.all(later);
  assert.equal(writes.length, 2, 'the two share one');
});

test('a failed write rejects the calls that waited for it, and no others', async () => {
  const { writes, sync } = heldWrites();
  const first = sync('results');
  const second = sync('results');
  writes[0]?.end(new Error('the disk is full'));
  await assert.rejects(first, /full/);
  await turn();
  writes[1]?.end();
  await second;
});

test('folders do not wait for each other, and each is written again when no call waits', async () => {
  const { writes, sync } = heldWrites();
  const both = [sync('results'), sync('staging')];
  assert.deepEqual(
    writes.map(({ folder }) => folder),
    ['results', 'staging'],
  );
  for (const write of writes) write.end();
  await Promise.all(both);
  await turn();
  const again = sync('results');
  assert.equal(writes.length, 3);
  writes[2]?.end();
  await again;
});
