import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  maxUploadBytesAtOnce,
  maxAccountUploadsAtOnce,
  withUploadSlot,
} from '../../../../src/api/core/limits/upload-slots.ts';
import { maxUploadBytesOfKind } from '../../../../src/media/references/upload-limits-and-addresses.ts';

const busy = { code: 'uploads_busy' };
const refused = (accountId: string, bytes = 1) =>
  assert.rejects(
    withUploadSlot({ accountId, bytes }, () => Promise.resolve()),
    busy,
  );

/** An upload that runs until it is ended, at the latest with the test. */
function hold(t: TestContext, accountId: string, bytes = 1): () => Promise<void> {
  let release = () => {};
  const receive = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  const upload = withUploadSlot({ accountId, bytes }, receive);
  const end = () => {
    release();
    return upload;
  };
  t.after(end);
  return end;
}

test('an account has two uploads at once, and does not hold up another one', async (t) => {
  const [end] = Array.from({ length: maxAccountUploadsAtOnce }, () => hold(t, 'a'));
  await refused('a');
  hold(t, 'b');
  await end?.();
  hold(t, 'a');
  await refused('a');
});

test('eight uploads run at once', async (t) => {
  const [end] = Array.from({ length: 8 }, (_, index) => hold(t, `account ${index}`));
  await refused('another');
  await end?.();
  hold(t, 'another');
});

test('uploads at once may send so many bytes together', async (t) => {
  hold(t, 'a', maxUploadBytesAtOnce - 10);
  await refused('b', 11);
  hold(t, 'b', 10);
  await refused('c', 1);
});

test('four videos of the largest size are received at once, and not a byte more', async (t) => {
  for (const account of ['a', 'b', 'c', 'd']) hold(t, account, maxUploadBytesOfKind('video'));
  await refused('e', 1);
});

test('an upload that fails frees its slot', async () => {
  const fail = () => Promise.reject(new Error('broken'));
  for (let uploads = 0; uploads <= maxAccountUploadsAtOnce; uploads += 1)
    await assert.rejects(withUploadSlot({ accountId: 'a', bytes: maxUploadBytesAtOnce }, fail), /broken/);
});
