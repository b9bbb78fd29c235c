import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import sharp from 'sharp';
import type { Scope } from '../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { createKeyUnchecked } from '../../src/accounts/keys/keys.ts';
import { createRateLimiter } from '../../src/api/core/limits/rate-limits.ts';
import { taskRequestToolSchema } from '../../src/api/mcp/task-request-tool-schema.ts';
import { completeTask } from '../../src/tasks/end/end-task-statements.ts';
import { findTask, beginGenerationAttempt } from '../../src/tasks/task-rows.ts';
import { type HttpService, plainRequest, startHttpService } from '../support/service/http-service.ts';
import { madeUpMeasures } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// The SDK's own client checks every result against the output schema of its tool.

const eras = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' } as const;
type Era = keyof typeof eras;

type Result = {
  readonly data: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
  readonly links: readonly string[];
};

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

async function connect(key: string, era: Era = '2026-07-28', to = service) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: eras[era] } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${to.url}/mcp`), { requestInit }));
  return {
    client,
    call: async (name: string, given: Record<string, unknown> = {}): Promise<Result> => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
      const links = content.flatMap((item) => (item.type === 'resource_link' ? [item.uri] : []));
      const [text, fields = ''] = content.flatMap((item) => (item.type === 'text' ? [item.text] : []));
      // Clients of the 1.x SDK would refuse structured content that does not match the tool's output schema.
      if (isError === true) assert.equal(structuredContent, undefined);
      return {
        data: (isError === true ? JSON.parse(fields) : structuredContent) as Result['data'],
        text: text ?? '',
        isError: isError === true,
        links,
      };
    },
  };
}

async function newClient(era?: Era, credits = 1_000, scopes?: readonly Scope[]) {
  const account = await service.newAccount(credits, scopes);
  const { client, call } = await connect(account.key, era);
  const balance = async () => (await findAccount(service.database.db, account.accountId))?.balance;
  return { ...account, client, call, balance };
}

async function succeed(taskId: string): Promise<void> {
  await beginGenerationAttempt(service.database.db, taskId);
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
}

for (const era of ['2026-07-28', '2025-11-25'] as const) {
  describe(`a client of ${era}`, () => {
    test('finds the tools, with the models of the catalogue in their schemas', async () => {
      const { client } = await newClient(era);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        [
          'list_models',
          'get_price',
          'generate_video',
          'get_video',
          'cancel_video',
          'list_videos',
          'upload_media',
          'get_balance',
        ],
      );
      const generate = tools.find(({ name }) => name === 'generate_video')?.inputSchema;
      const { properties } = taskRequestToolSchema(service.deps.catalogue().models);
      assert.deepEqual(generate?.required, ['model', 'input']);
      assert.deepEqual(generate.properties, { ...generate.properties, ...properties });
      for (const { inputSchema, outputSchema, annotations } of tools) {
        assert.deepEqual([inputSchema.type, outputSchema?.['type']], ['object', 'object']);
        assert.equal(typeof annotations?.readOnlyHint, 'boolean');
      }
    });

    test('gets the price, generates, waits, and is linked to video and poster', async () => {
      const { call, balance } = await newClient(era);
      const price = await call('get_price', plainRequest);
      assert.deepEqual(price.data['credits'], 165);
      assert.equal(await balance(), 1_000);
      const generated = await call('generate_video', plainRequest);
      assert.equal(generated.isError, false);
      assert.equal(await balance(), 835);
      const taskId = String(generated.data['taskId']);
      assert.ok(service.started.some((task) => task.taskId === taskId));
      assert.match(generated.text, new RegExp(`165 credits.*${taskId} is waiting`));
      const waiting = call('get_video', { taskId, wait_seconds: 50 });
      await succeed(taskId);
      const { data, links, text } = await waiting;
      assert.equal(data['state'], 'success');
      const { resultUrls } = data['resultJson'] as { readonly resultUrls: readonly string[] };
      assert.deepEqual(links, [...resultUrls, data['posterUrl']]);
      for (const link of links) assert.ok(text.includes(link), 'for clients that show only text');
      const listed = await call('list_videos', { state: 'success', limit: 5 });
      assert.deepEqual(
        (listed.data['tasks'] as readonly { taskId: string }[]).map((task) => task.taskId),
        [taskId],
      );
    });

    test('cancels, and reads models and balance', async () => {
      const { call } = await newClient(era);
      const { data } = await call('generate_video', plainRequest);
      const cancelled = await call('cancel_video', { taskId: data['taskId'] });
      assert.deepEqual([cancelled.data['cancelled'], cancelled.data['creditsRefunded']], [true, 165]);
      assert.equal((await call('get_balance')).data['balance'], 1_000);
      const models = (await call('list_models')).data['models'] as readonly Record<string, unknown>[];
      assert.deepEqual(
        models.map(({ model }) => model),
        [...service.deps.catalogue().models.keys()],
      );
      const { text } = await call('list_models');
      assert.match(
        text,
        /^videogen-2\.0: .* It is not an AI model\.\n  Costs 41 credits per second\.\n  Takes prompt: /,
      );
    });

    test('reads an error as a result with our code', async () => {
      const { call, balance } = await newClient(era, 100);
      const poor = await call('generate_video', plainRequest);
      assert.deepEqual([poor.isError, poor.data['error']], [true, 'insufficient_credits']);
      assert.deepEqual(poor.data['data'], { required: 165, balance: 100 });
      assert.match(poor.text, /^insufficient_credits: .*165 credits required/);
      const invalid = await call('generate_video', { model: 'none', prompt: 'x', wait_seconds: 0 });
      assert.equal(invalid.data['error'], 'invalid_request');
      for (const problem of [/model: must be one of/, /prompt: unknown field, did you mean input.prompt/])
        assert.match(invalid.text, problem);
      const unfit = await call('get_video', { taskId: randomUUID(), wait_seconds: 51 });
      assert.match(unfit.text, /wait_seconds/);
      assert.equal((await call('get_video', { taskId: randomUUID() })).data['error'], 'task_not_found');
      assert.equal(await balance(), 100);
    });

    test('uploads an image, and generates from it', async () => {
      const { call } = await newClient(era);
      const image = await sharp({ create: { width: 400, height: 400, channels: 3, background: 'red' } })
        .png()
        .toBuffer();
      const { data } = await call('upload_media', { data: image.toString('base64') });
      assert.ok((data['fields'] as readonly string[]).includes('imageUrls'));
      const input = { ...plainRequest.input, imageUrls: [data['url']] };
      assert.equal((await call('generate_video', { ...plainRequest, input })).isError, false);
      const again = await call('upload_media', { data: `data:image/png;base64,${image.toString('base64')}` });
      assert.equal(again.data['url'], data['url'], 'the same file is stored once');
      assert.match((await call('upload_media', { data: 'no image' })).text, /^invalid_request: data: /);
      for (const given of ['/home/ann/boat.jpg', 'file:///home/ann/boat.jpg', 'https://example.com/boat.jpg'])
        assert.match(
          (await call('upload_media', { data: given })).text,
          /data: must be the file itself, .* a path cannot be read/,
        );
    });
  });
}

test('an identical generate_video is charged once, also at the same time; another idempotency_key is another task', async () => {
  const { call, balance } = await newClient();
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => call('generate_video', plainRequest)));
  assert.equal(new Set([first, second, third].map((result) => result?.data['taskId'])).size, 1);
  assert.equal([first, second, third].filter((result) => result?.data['isRepeat'] === false).length, 1);
  assert.equal(await balance(), 835);
  const named = await call('generate_video', { ...plainRequest, idempotency_key: 'b' });
  assert.equal(named.data['isRepeat'], false);
  const repeated = await call('generate_video', { ...plainRequest, idempotency_key: 'b', wait_seconds: 0 });
  assert.deepEqual([repeated.data['taskId'], repeated.data['isRepeat']], [named.data['taskId'], true]);
  assert.equal(await balance(), 670);
  const other = { ...plainRequest, input: { prompt: 'Another' }, idempotency_key: 'b' };
  assert.equal((await call('generate_video', other)).data['error'], 'idempotency_key_reused');
});

test('an identical generate_video is merged while the first is unfinished and for two minutes after its success', async () => {
  const { call, balance } = await newClient();
  const first = (await call('generate_video', plainRequest)).data['taskId'];
  const sql = (name: string, text: string) => service.database.db.run({ name, text }, [String(first)]);
  await sql('test-age-task', `update tasks set created_at = now() - interval '3 hours' where id = $1`);
  const repeat = async () => (await call('generate_video', plainRequest)).data;
  assert.deepEqual([await repeat(), await balance()], [{ ...(await repeat()), taskId: first, isRepeat: true }, 835]);
  await succeed(String(first));
  assert.equal((await repeat())['taskId'], first);
  await service.database.db.run({
    name: 'test-untrigger',
    text: 'alter table tasks disable trigger final_tasks_never_change',
  });
  await sql('test-age-end', `update tasks set completed_at = now() - interval '3 minutes' where id = $1`);
  await service.database.db.run({
    name: 'test-trigger',
    text: 'alter table tasks enable trigger final_tasks_never_change',
  });
  const next = await repeat();
  assert.deepEqual([next['isRepeat'], next['taskId'] === first, await balance()], [false, false, 670]);
});

test('numbers, booleans, lists and objects that a model writes as text are read', async () => {
  const { call } = await newClient();
  const input = { prompt: 'A lighthouse', duration: '6', generateAudio: 'false' };
  const { data, isError } = await call('generate_video', { ...plainRequest, input });
  assert.equal(isError, false);
  const { param } = data['video'] as { readonly param: { readonly input: Record<string, unknown> } };
  assert.deepEqual([param.input['duration'], param.input['generateAudio']], [6, false]);
  assert.equal((await call('get_price', { ...plainRequest, input })).isError, false);
  const asText = JSON.stringify({ ...input, imageUrls: JSON.stringify(['https://images.example/1.jpg']) });
  const nested = await call('generate_video', { ...plainRequest, input: asText });
  const { param: read } = nested.data['video'] as { readonly param: { readonly input: Record<string, unknown> } };
  assert.deepEqual([read.input['duration'], read.input['imageUrls']], [6, ['https://images.example/1.jpg']]);
  for (const broken of ['a boat', '{"prompt":'])
    assert.match((await call('generate_video', { ...plainRequest, input: broken })).text, /input: must be an object/);
});

test('a cancelled call cancels the task that it created, unless a repeat has it or an upstream may make it', async () => {
  const account = await service.newAccount(10_000);
  const { client } = await connect(account.key);
  const stateOf = async (taskId: string) => (await findTask(service.database.db, taskId))?.failure?.failCode;
  const begin = async (prompt: string) => {
    const abort = new AbortController();
    const given = { model: plainRequest.model, input: { prompt }, wait_seconds: 50 };
    const calling = client
      .callTool({ name: 'generate_video', arguments: given }, { signal: abort.signal })
      .catch(() => undefined);
    const find = {
      name: 'test-find-prompt',
      text: `select id from tasks where account_id = $1 and param->'input'->>'prompt' = $2`,
    };
    const [row] = await waitFor('the task', async () => {
      const rows = await service.database.db.run<{ id: string }>(find, [account.accountId, prompt]);
      return rows.length === 0 ? undefined : rows;
    });
    assert.ok(row);
    return { taskId: row.id, end: async () => (abort.abort(), void (await calling)) };
  };
  const alone = await begin('alone');
  await alone.end();
  await waitFor('the cancellation', async () => ((await stateOf(alone.taskId)) === 'cancelled' ? true : undefined));
  assert.equal((await findAccount(service.database.db, account.accountId))?.balance, 10_000);
  const repeated = await begin('repeated');
  const other = await connect(account.key);
  await other.call('generate_video', { model: plainRequest.model, input: { prompt: 'repeated' } });
  const made = await begin('made');
  await beginGenerationAttempt(service.database.db, made.taskId);
  const closed = service.log.filter((line) => line['tool'] === 'generate_video' && line['aborted'] === true).length;
  await Promise.all([repeated.end(), made.end()]);
  await waitFor('the ends of both calls', () =>
    Promise.resolve(
      service.log.filter((line) => line['tool'] === 'generate_video' && line['aborted'] === true).length >= closed + 2
        ? true
        : undefined,
    ),
  );
  const last = await begin('last');
  await last.end();
  await waitFor('the later cancellation', async () =>
    (await stateOf(last.taskId)) === 'cancelled' ? true : undefined,
  );
  assert.deepEqual([await stateOf(repeated.taskId), await stateOf(made.taskId)], [undefined, undefined]);
});

test('a wait ends with the task', async () => {
  const { call, accountId } = await newClient();
  const generating = call('generate_video', { ...plainRequest, wait_seconds: 50 });
  const started = () => service.started.find((task) => task.accountId === accountId);
  const { taskId } = await waitFor('the task', () => Promise.resolve(started()));
  await succeed(taskId);
  const { data, links } = await generating;
  assert.equal((data['video'] as { readonly state: string }).state, 'success');
  assert.equal(links.length, 2);
});

test("another account's tasks do not exist", async () => {
  const [one, other] = [await newClient(), await newClient()];
  const { taskId } = (await one.call('generate_video', plainRequest)).data;
  for (const tool of ['get_video', 'cancel_video'])
    assert.equal((await other.call(tool, { taskId })).data['error'], 'task_not_found');
  assert.deepEqual((await other.call('list_videos')).data['tasks'], []);
});

test('a key needs the scope of the tool; without tasks:read, generate_video returns the id alone', async () => {
  const { call } = await newClient(undefined, 1_000, ['tasks:write']);
  for (const tool of ['list_videos', 'get_balance']) assert.equal((await call(tool)).data['error'], 'scope_missing');
  const { data, isError } = await call('generate_video', { ...plainRequest, wait_seconds: 50 });
  assert.deepEqual([isError, Object.keys(data)], [false, ['taskId', 'creditsCharged', 'isRepeat']]);
});

test('a key of the dialect kie speaks our own dialect here', async () => {
  const { accountId } = await service.newAccount(1_000);
  const scopes = ['tasks:write', 'tasks:read'] as const;
  const created = await createKeyUnchecked(service.database.db, { accountId, name: 'kie', scopes, dialect: 'kie' });
  const { call } = await connect(created?.key ?? '');
  assert.equal((await call('get_price', plainRequest)).data['credits'], 165);
  assert.equal((await call('generate_video', plainRequest)).isError, false);
});

test('refused creates, creates and reads have the limits of the API', async () => {
  const refusedCreates = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  const reads = createRateLimiter({ quota: 6, windowMs: 3_600_000 });
  const createRate = { quota: 1, windowMs: 3_600_000 };
  const limited = await startHttpService({ refusedCreates, reads, createRate });
  try {
    const { key } = await limited.newAccount(10_000);
    const { call } = await connect(key, '2026-07-28', limited);
    assert.equal((await call('generate_video', plainRequest)).isError, false);
    const other = { ...plainRequest, idempotency_key: 'b' };
    const fast = await call('generate_video', other);
    assert.equal(fast.data['error'], 'rate_limited');
    assert.ok(Number(fast.data['retryAfterSeconds']) > 0);
    for (const _ of [1, 2]) assert.equal((await call('generate_video', {})).data['error'], 'invalid_request');
    assert.equal((await call('generate_video', other)).data['error'], 'too_many_refused_creates');
    const codes: unknown[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6, 7]) codes.push((await call('get_balance')).data['error']);
    assert.equal(codes[0], undefined);
    assert.equal(codes.at(-1), 'rate_limited');
  } finally {
    await limited.close();
  }
});

test('a suspended account and a model without a worker are refused', async () => {
  let isSold = false;
  const closed = await startHttpService({ isSold: () => isSold });
  try {
    const { key, accountId } = await closed.newAccount(1_000);
    const { call } = await connect(key, '2026-07-28', closed);
    for (const tool of ['get_price', 'generate_video'])
      assert.equal((await call(tool, plainRequest)).data['error'], 'model_unavailable');
    assert.deepEqual((await call('list_models')).data['models'], []);
    isSold = true;
    await closed.database.db.run(
      { name: 'test-suspend', text: 'update accounts set suspended_at = now() where id = $1' },
      [accountId],
    );
    for (const [tool, given] of Object.entries({ generate_video: plainRequest, upload_media: { data: 'AAAA' } }))
      assert.equal((await call(tool, given)).data['error'], 'account_suspended');
    assert.equal((await call('get_balance')).data['balance'], 1_000);
  } finally {
    await closed.close();
  }
});

test('the words of the tools invite no purchase', async () => {
  const { client } = await newClient();
  for (const { title, description } of (await client.listTools()).tools)
    assert.doesNotMatch(`${title} ${description}`, /\b(?:buy|purchas|pay|bill|order|checkout|money|invoice)/i);
});
