import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Client, createClient } from '../../clients/typescript/src/index.ts';
import { call } from '../support/api.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { settled, startVisitor } from '../support/console.ts';
import { plainImage } from '../support/hostile-images.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { skipsWithoutPrograms, startTopology, type Topology } from './topology.ts';

describe('links into a real bucket', { skip: skipsWithoutPrograms }, () => {
  let topology: Topology;
  let account: TestAccount;
  let client: Client;
  let bucket: string;
  before(async () => {
    topology = await startTopology();
    account = await createTestAccount(topology.world.database, 100_000);
    client = createClient({ baseUrl: topology.baseUrl, key: account.key });
    bucket = topology.s3.s3.endpoint;
  });
  after(() => topology?.close());

  const finished = async (imageUrls: readonly string[] = []) => {
    const input = { prompt: '[[instant]] a boat', duration: 4, imageUrls };
    const { taskId } = await client.createTask({ model: 'videogen-2.0-fast', input });
    const record = await client.waitForTask(taskId);
    assert.equal(record.state, 'success', record.failMsg ?? '');
    return record;
  };
  const upload = async () => {
    const body = new Uint8Array(await plainImage(640, 360).png().toBuffer());
    const answer = await call({ baseUrl: topology.baseUrl, key: account.key }, '/api/v1/uploads', {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body,
    });
    assert.equal(answer.status, 200, answer.body.msg);
    return answer.body.data;
  };

  test('a link leads to the bucket, which sends the video whole or in part, under its name, to nobody without the signature', async () => {
    const { resultJson, taskId } = await finished();
    const link = resultJson.resultUrls[0] ?? '';
    const redirect = await fetch(link, { redirect: 'manual' });
    assert.equal(redirect.status, 302);
    const signed = new URL(redirect.headers.get('location') ?? '');
    assert.equal(signed.origin, bucket);
    const whole = await fetch(signed);
    const video = Buffer.from(await whole.arrayBuffer());
    assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'video/mp4']);
    assert.equal(whole.headers.get('content-disposition'), `inline; filename="${taskId}-video.mp4"`);
    assert.equal(video.toString('latin1', 4, 8), 'ftyp');
    const part = await fetch(link, { headers: { range: 'bytes=100-199' } });
    assert.equal(part.status, 206);
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), video.subarray(100, 200));
    for (const altered of [
      signed.origin + signed.pathname,
      signed.href.replace(/(Signature=)./, '$1x'),
      signed.href.replace('video.mp4', 'poster.jpg'),
    ])
      assert.equal((await fetch(altered)).status, 403, altered);
  });

  test('an uploaded image lies in the bucket, its preview is shown by both APIs, and a task takes it', async () => {
    const { imageUrl, previewUrl } = await upload();
    const preview = await fetch(String(previewUrl));
    assert.deepEqual([preview.status, preview.headers.get('content-type')], [200, 'image/jpeg']);
    assert.equal(new URL(preview.url).origin, bucket);
    await finished([String(imageUrl)]);
    // The bucket is all that the two share.
    for (const url of topology.apiUrls) {
      const { pathname, search } = new URL(String(previewUrl));
      assert.equal((await fetch(url + pathname + search)).status, 200);
    }
  });

  test(
    'the console plays the video and shows poster and uploads from the bucket, and its policy allows no other place',
    { skip: skipWithoutBrowser() },
    async () => {
      const { taskId } = await finished();
      const visitor = await startVisitor({ baseUrl: topology.baseUrl, database: topology.world.database });
      try {
        const { page, errors, foreign } = await visitor.signedIn({ [account.accountId]: 'owner' });
        const policy =
          (await page.request.get(`${topology.baseUrl}/console`)).headers()['content-security-policy'] ?? '';
        assert.match(policy, new RegExp(`media-src 'self' ${topology.baseUrl} ${bucket};`));
        await page.goto(`${topology.baseUrl}/console/a/${account.accountId}/tasks`);
        await settled(page);
        await shown(page, 'main img', 'naturalWidth');
        await page.goto(`${topology.baseUrl}/console/a/${account.accountId}/tasks/${taskId}`);
        await shown(page, 'video', 'videoWidth');
        await page.getByRole('link', { name: 'Playground', exact: true }).click();
        const buffer = await plainImage(640, 360).png().toBuffer();
        const file = { name: 'boat.png', mimeType: 'image/png', buffer };
        await page.getByLabel('Files of reference images').setInputFiles(file);
        await shown(page, '.chosen-images img', 'naturalWidth');
        assert.deepEqual(errors, []);
        assert.deepEqual([...new Set(foreign.map((url) => new URL(url).origin))], [bucket]);
      } finally {
        await visitor.close();
      }
    },
  );
});

/** Waits until the first element of its kind has its picture. */
async function shown(page: Page, selector: string, size: 'naturalWidth' | 'videoWidth'): Promise<void> {
  const measure = `document.querySelector(${JSON.stringify(selector)})?.${size} ?? 0`;
  const look = async () => ((await page.evaluate<number>(measure)) > 0 ? true : undefined);
  await waitFor(`the ${size} of ${selector}`, look, 60_000);
}
