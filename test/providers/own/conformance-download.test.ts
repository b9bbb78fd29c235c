import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { checkDownload, checkRange } from '../../../src/providers/own/conformance-download.ts';
import type { UpstreamAnswer, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { signal } from '../contract/job-request.ts';

const unused = () => assert.fail('not used');

test('a download may break four times, and the fifth break ends it', async () => {
  const brokenTimes = async (times: number) => {
    const download: UpstreamClient['download'] = async (url, path, { signal: stopping, onBreak }) => {
      assert.deepEqual([url, path], ['/jobs/7/video', '/video']);
      for (let count = 1; count <= times; count += 1) onBreak?.(new OutboundError('closed', `break ${count}`));
      stopping.throwIfAborted();
    };
    return await checkDownload({ client: { call: unused, download }, signal }, '7', '/video');
  };
  assert.deepEqual(await brokenTimes(4), { outcome: 'pass' });
  assert.deepEqual(await brokenTimes(5), {
    outcome: 'fail',
    came: 'broke 5 times: The address could not be reached. (break 5)',
  });
});

/** Checks the range of a video of so many bytes, which are `a`. */
async function rangeChecked(t: TestContext, size: number, answer: Partial<UpstreamAnswer> | Error) {
  const path = join(await temporaryFolder(t), 'video');
  await writeFile(path, size > 10_000 ? '' : 'a'.repeat(size));
  if (size > 10_000) await truncate(path, size);
  let range: string | undefined;
  const call: UpstreamClient['call'] = async (method, target, { headers }) => {
    assert.deepEqual([method, target], ['GET', '/jobs/7/video']);
    range = headers?.['range'];
    if (answer instanceof Error) throw answer;
    return { status: 206, headers: {}, body: Buffer.from(''), ...answer };
  };
  const verdict = await checkRange({ client: { call, download: unused }, signal }, '7', path);
  return { range, ...verdict };
}

test('the last thousand bytes of a video, or all but its first, must be those of the whole file', async (t) => {
  const notOffered = 'the whole file came: a download that breaks begins anew';
  const headers = { 'content-range': 'bytes 500-1499/1500' };
  const body = Buffer.from('a'.repeat(1000));
  const large = 64 * 1024 * 1024;
  const refused = 'with Content-Range';
  for (const [size, answer, expected] of [
    [1500, { headers, body }, { outcome: 'pass' }],
    [500, { headers: { 'content-range': 'bytes 1-499/500' }, body: body.subarray(0, 499) }, { outcome: 'pass' }],
    [1500, { headers, body: body.subarray(1) }, { came: 'other bytes than those of the whole file' }],
    [1500, { headers, body: Buffer.from('b'.repeat(1000)) }, { came: 'other bytes than those of the whole file' }],
    [1500, { status: 416, headers, body }, { came: `HTTP 416 ${refused} bytes 500-1499/1500 for bytes=500- of 1500` }],
    [1500, { body }, { came: `HTTP 206 ${refused} undefined for bytes=500- of 1500` }],
    [1500, { status: 200, headers: { 'accept-ranges': 'bytes' } }, { came: '200 in spite of Accept-Ranges' }],
    [1500, { status: 200, headers: { 'accept-ranges': 'none' } }, { outcome: 'skipped', came: notOffered }],
    [1500, new Error('closed'), { came: 'closed' }],
    [large, new Error('too large'), { came: 'too large' }],
    [large + 1, new Error('too large'), { outcome: 'skipped', came: notOffered }],
  ] as const) {
    const range = `bytes=${Math.max(1, size - 1000)}-`;
    assert.deepEqual(await rangeChecked(t, size, answer), { range, outcome: 'fail', ...expected });
  }
});
