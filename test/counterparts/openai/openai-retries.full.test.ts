import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { type Fate, startLossyProxy } from '../../support/proxies/fate-per-request-proxy.ts';
import { allowManyTasks, holdRepeatWindow } from '../../support/service/repeat-merging.ts';

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
  const { balance, entries } = await readBalanceAndEntries(service.database.db, { accountId, limit: 500 });
  assert.equal(balance, 0);
  assert.deepEqual(new Set(entries.filter(({ kind }) => kind === 'charge').map(({ taskId }) => taskId)), new Set(ids));
  assert.deepEqual(await auditLedger(service.database.db), []);
});

type Route = (count: number, send: () => Promise<Response>) => Promise<Response>;

/** A service, and clients of one key whose requests a test loses, holds or lets pass. */
async function startTakes(t: TestContext) {
  const service = await startHttpService();
  t.after(() => service.close());
  const { accountId, key } = await service.newAccount(10 * 165);
  await holdRepeatWindow(service.database.db);
  const connect = (route: Route) => {
    const fetch = (url: string | URL | Request, init?: RequestInit) => {
      const count = new Headers(init?.headers).get('x-stainless-retry-count');
      const send = () => globalThis.fetch(url, init);
      // The SDK also fetches a data URL, to find out what the runtime can do.
      return count === null ? send() : route(Number(count), send);
    };
    return new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, fetch });
  };
  const charged = async () => {
    const { entries } = await readBalanceAndEntries(service.database.db, { accountId, limit: 50 });
    return entries
      .flatMap(({ kind, taskId }) => (kind === 'charge' && taskId !== undefined ? [taskId] : []))
      .toSorted();
  };
  const take = (openai: OpenAI) => openai.videos.create({ model, prompt: 'one prompt' });
  return { connect, charged, take };
}

const pass: Route = (_count, send) => send();
const broken = () => Promise.reject(new TypeError('the connection broke'));
/** The response to the first attempt is lost. */
const loseFirstAnswer: Route = (count, send) => (count === 0 ? send().then(broken) : send());

test('four takes at once whose answers are all lost: each client gets a video of its own', async (t) => {
  const { connect, charged, take } = await startTakes(t);
  const videos = await Promise.all(Array.from({ length: 4 }, () => take(connect(loseFirstAnswer))));
  assert.equal(new Set(videos.map(({ id }) => id)).size, 4);
  assert.deepEqual(await charged(), videos.map(({ id }) => id).toSorted());
});

test('four takes of which two answers are lost: each client gets a video of its own, once the others have read theirs', async (t) => {
  const { connect, charged, take } = await startTakes(t);
  const reader = connect(pass);
  let readAll = () => {};
  const areRead = new Promise<void>((resolve) => (readAll = resolve));
  const late = connect(async (count, send) => {
    if (count === 0) return send().then(broken);
    await areRead;
    return send();
  });
  const repeated = [take(late), take(late)];
  const delivered = await Promise.all([take(reader), take(reader)]);
  for (const { id } of delivered) await reader.videos.retrieve(id);
  readAll();
  const ids = [...delivered, ...(await Promise.all(repeated))].map(({ id }) => id);
  assert.equal(new Set(ids).size, 4);
  assert.deepEqual(await charged(), ids.toSorted());
});

test('a first attempt that arrives after its repeat is charged with it once, also if the video was read', async (t) => {
  for (const isRead of [false, true]) {
    const { connect, charged, take } = await startTakes(t);
    const held: (() => Promise<Response>)[] = [];
    const openai = connect((count, send) => {
      if (count > 0) return send();
      held.push(send);
      return broken();
    });
    const { id } = await take(openai);
    if (isRead) await connect(pass).videos.retrieve(id);
    const late = await held[0]?.();
    assert.equal(late?.status, 200);
    assert.equal(late.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(await charged(), [id]);
    // A further take is another video.
    const { id: another } = await take(connect(pass));
    assert.deepEqual(await charged(), [id, another].toSorted());
  }
});

test('a second take whose first attempt was lost is another video, once the first video was read or listed', async (t) => {
  const reads = {
    retrieve: (openai: OpenAI, id: string) => openai.videos.retrieve(id),
    list: (openai: OpenAI) => openai.videos.list(),
  };
  for (const read of Object.values(reads)) {
    const { connect, charged, take } = await startTakes(t);
    const { id } = await take(connect(pass));
    await read(connect(pass), id);
    const second = await take(connect((count, send) => (count === 0 ? broken() : send())));
    assert.notEqual(second.id, id);
    assert.ok(!('replayed' in second));
    assert.deepEqual(await charged(), [id, second.id].toSorted());
  }
});

test('a replay is shown by a header and a field', async (t) => {
  const { connect, charged } = await startTakes(t);
  const { data, response } = await connect(loseFirstAnswer)
    .videos.create({ model, prompt: 'one prompt' })
    .withResponse();
  assert.equal(response.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(
    Object.entries(data).filter(([name]) => name === 'replayed'),
    [['replayed', true]],
  );
  assert.deepEqual(await charged(), [data.id]);
});
