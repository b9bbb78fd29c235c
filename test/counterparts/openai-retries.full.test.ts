import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { readBooks } from '../../src/credits/credits.ts';
import { plainImage } from '../support/hostile-images.ts';
import { startHttpService } from '../support/http-service.ts';
import { type Fate, startLossyProxy } from '../support/lossy-proxy.ts';
import { allowManyTasks, holdRepeatWindow } from '../support/merging-key.ts';

const model = 'videogen-2.0-fast';

test('200 creates of which most answers are lost: each yields its own video, and none is charged twice', async (t) => {
  const service = await startHttpService();
  t.after(() => service.close());
  const fates: Readonly<Record<string, readonly Fate[]>> = {
    '0': ['pass', 'lose_answer', 'lose_request', 'lose_answer', 'lose_answer'],
    '1': ['pass', 'lose_answer', 'lose_request'],
  };
  const met: Fate[] = [];
  const proxy = await startLossyProxy(service.url, ({ headers }) => {
    const ofAttempt = fates[String(headers['x-stainless-retry-count'])] ?? ['pass'];
    const fate = ofAttempt[met.length % ofAttempt.length] ?? 'pass';
    met.push(fate);
    return fate;
  });
  t.after(() => proxy.close());
  const { accountId, key } = await service.newAccount(200 * 165);
  await allowManyTasks(service.database.db, accountId);
  await holdRepeatWindow(service.database.db);
  const openai = new OpenAI({ apiKey: key, baseURL: `${proxy.url}/v1` });
  const input_reference = await toFile(await plainImage(300, 300).png().toBuffer(), 'first.png', { type: 'image/png' });
  const create = async (index: number) => {
    // Some carry a file, which becomes the same upload at each attempt.
    const file = index % 20 === 0 ? { input_reference } : {};
    return (await openai.videos.create({ model, prompt: `lighthouse ${index}`, ...file })).id;
  };
  const ids: string[] = [];
  for (let start = 0; start < 200; start += 100) {
    ids.push(...(await Promise.all(Array.from({ length: 100 }, (_, index) => create(start + index)))));
  }
  assert.equal(new Set(ids).size, 200);
  const cut = met.filter((fate) => fate === 'lose_answer').length;
  assert.ok(cut >= 100, `${cut} answers were lost`);
  const { balance, entries } = await readBooks(service.database.db, { accountId, limit: 500 });
  assert.equal(balance, 0);
  assert.deepEqual(new Set(entries.filter(({ kind }) => kind === 'charge').map(({ taskId }) => taskId)), new Set(ids));
  assert.deepEqual(await auditLedger(service.database.db), []);
});
