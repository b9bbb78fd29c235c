import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { revokeApiKey } from '../../../src/accounts/keys/keys.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { errorCatalogue } from '../../../src/api/core/error-catalogue.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// test/counterparts/official-mcp.test.ts has what the SDK's client does; this has what it never sends.

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

type Headers = Readonly<Record<string, string>>;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(key: string | undefined, message: unknown, headers: Headers = {}) {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return service.send('POST', '/mcp', { headers: { ...json, ...authorization, ...headers }, body });
}

/** Errors of this endpoint are those of JSON-RPC, which clients show. */
function assertRpcRefused(answer: Answer, status: number, message: RegExp, id: number | string | null = null): void {
  const body = JSON.parse(answer.bytes.toString()) as {
    readonly jsonrpc: string;
    readonly id: unknown;
    readonly error: { readonly code: number; readonly message: string; readonly data: { readonly error: string } };
  };
  assert.deepEqual([answer.status, body.jsonrpc, body.id, body.error.code], [status, '2.0', id, -32_000]);
  assert.match(body.error.message, message);
  const [, known] = Object.entries(errorCatalogue).find(([code]) => code === body.error.data.error) ?? [];
  assert.equal(known?.status, status);
}

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

function callOf(name: string, given: object) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
}

test('401 without a valid key, before the body is read', async () => {
  for (const key of [undefined, 'vg_unknown']) {
    const answer = await post(key, '{');
    assertRpcRefused(answer, 401, /a valid API key is required/);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assertRpcRefused(await post(key, listTools), 401, /a valid API key is required/, 1);
  }
});

test('an error has the id of a message of 64 KB at most', async () => {
  const sized = (id: unknown, length: number) => {
    const message = { ...listTools, id, padding: '' };
    return { ...message, padding: 'x'.repeat(length - JSON.stringify(message).length) };
  };
  for (const [id, length, expected] of [
    ['text', 100, 'text'],
    [7, 65_536, 7],
    [7, 65_537, null],
    [{}, 100, null],
  ] as const)
    assertRpcRefused(await post(undefined, sized(id, length)), 401, /a valid API key is required/, expected);
});

test('a slash at the end of the URL changes nothing', async () => {
  const { key } = await service.newAccount(0);
  const headers = { ...json, authorization: `Bearer ${key}` };
  const { status, bytes } = await service.send('POST', '/mcp/', { headers, body: JSON.stringify(listTools) });
  assert.equal(status, 200);
  assert.match(bytes.toString(), /generate_video/);
});

test('401 a key that was revoked after it was cached starts nothing and reads nothing', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  assert.equal((await post(key, listTools)).status, 200);
  const keys = await service.database.db.run<{ id: string }>(
    { name: 'test-keys-of', text: 'select id from api_keys where account_id = $1' },
    [accountId],
  );
  await revokeApiKey(service.database.db, keys[0]?.id ?? '', accountId);
  assert.equal((await post(key, listTools)).status, 401);
  for (const call of [callOf('generate_video', plainRequest), callOf('get_balance', {})])
    assert.match((await post(key, call)).bytes.toString(), /unauthorized/);
});

test('403 a page of another origin is refused; one of our own, and programs, are served', async () => {
  const { key } = await service.newAccount(0);
  for (const origin of ['http://evil.example', 'null', service.url.replace('127.0.0.1', 'localhost')])
    assertRpcRefused(await post(key, listTools, { origin }), 403, /another origin/, 1);
  assert.equal((await post(key, listTools, { origin: service.url })).status, 200);
  assert.equal((await post(key, listTools)).status, 200);
});

test('405 there are no sessions and no streams to open', async () => {
  const { key } = await service.newAccount(0);
  for (const method of ['GET', 'DELETE']) {
    const answer = await service.send(method, '/mcp', { headers: { ...json, authorization: `Bearer ${key}` } });
    assertRefused(answer, 405, /allowed: OPTIONS, POST/);
  }
});

test('bodies have the limits of the API, and a batch is refused', async () => {
  const { key, accountId } = await service.newAccount(1_000);
  assertRpcRefused(await post(key, [callOf('generate_video', plainRequest)]), 400, /must be a JSON object/);
  assertRpcRefused(await post(key, '{"method":"a","method":"b"}'), 400, /given twice/);
  assert.equal((await post(key, `{"params":${'['.repeat(40)}${']'.repeat(40)}}`)).status, 422);
  assertRpcRefused(await post(key, '{}', { 'content-type': 'text/plain' }), 415, /application\/json/);
  const large = { 'content-length': String(17 * 1024 * 1024) };
  assertRpcRefused(await post(key, '{}', large), 413, /larger than/);
  assert.ok(!service.started.some((task) => task.accountId === accountId));
});

test('what is no message, an unknown method and an unknown tool are errors of the protocol', async () => {
  const { key } = await service.newAccount(0);
  const errorOf = async (message: object) => {
    const text = (await post(key, message)).bytes.toString();
    const { error } = JSON.parse(text.replace(/^[\s\S]*?data: /, '')) as { readonly error?: { readonly code: number } };
    return error?.code;
  };
  assert.equal(await errorOf({ hello: 1 }), -32600);
  assert.equal(await errorOf({ ...listTools, method: 'resources/list' }), -32601);
  assert.equal(await errorOf(callOf('buy_credits', {})), -32602);
});

test('429 a message that runs no tool counts as a read, also one that names a tool and has no valid id', async () => {
  const { database } = service;
  const reads = createRateLimiter({ quota: 1, windowMs: 3_600_000 });
  const limited = await startHttpService({ database, reads });
  const call = callOf('get_balance', {});
  try {
    for (const [name, message] of [
      ['no id', { ...call, id: undefined }],
      ['an invalid id', { ...call, id: {} }],
      ['another protocol', { ...call, jsonrpc: '1.0' }],
      ['no tool', listTools],
    ] as const) {
      const { key } = await limited.newAccount(0);
      const headers = { ...json, authorization: `Bearer ${key}` };
      const send = () => limited.send('POST', '/mcp', { headers, body: JSON.stringify(message) });
      assert.notEqual((await send()).status, 429, name);
      assert.match((await send()).bytes.toString(), /rate_limited: too many requests/);
    }
  } finally {
    await limited.close();
  }
});

/** The result of a call of a tool. */
function resultOf({ bytes }: Answer): unknown {
  const { result } = JSON.parse(bytes.toString().replace(/^[\s\S]*?data: /, '')) as { readonly result: unknown };
  return result;
}

test('an error of a tool is one text for the model, with each invalid field, and one for programs, as in the API', async () => {
  const { key } = await service.newAccount(1_000);
  const invalid = { ...plainRequest, input: { prompt: '', duration: 99 } };
  const { error, msg, data } = (await service.create(key, invalid)).json;
  const [, second] = data['errors'] as readonly { readonly path: string; readonly message: string }[];
  const texts = [`${String(error)}: ${msg}\n${second?.path}: ${second?.message}`, JSON.stringify({ error, msg, data })];
  const content = texts.map((text) => ({ type: 'text', text }));
  assert.deepEqual(resultOf(await post(key, callOf('generate_video', invalid))), { isError: true, content });
});

test('a tool that must wait says for how long', async () => {
  const { database } = service;
  const limited = await startHttpService({ database, createRate: { quota: 1, windowMs: 3_600_000 } });
  try {
    const { key } = await limited.newAccount(1_000);
    const headers = { ...json, authorization: `Bearer ${key}` };
    const generate = (prompt: string) => {
      const call = callOf('generate_video', { model: plainRequest.model, input: { prompt } });
      return limited.send('POST', '/mcp', { headers, body: JSON.stringify(call) });
    };
    await generate('1');
    const { content } = resultOf(await generate('2')) as { readonly content: readonly { readonly text: string }[] };
    const [text = '', fields = ''] = content.map((one) => one.text);
    const { retryAfterSeconds, error } = JSON.parse(fields) as Readonly<Record<string, unknown>>;
    assert.equal(error, 'rate_limited');
    assert.ok(Number(retryAfterSeconds) >= 3_000);
    assert.ok(text.endsWith(`\nRetry after ${String(retryAfterSeconds)} s.`), text);
  } finally {
    await limited.close();
  }
});

test('404 the paths of OAuth are unknown, so that clients use their key', async () => {
  for (const path of [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/openid-configuration',
  ])
    assertRefused(await service.send('GET', path), 404, /unknown endpoint/);
});

test('the log names the tool and the error of a call, whose status is 200', async () => {
  const { accountId, key } = await service.newAccount(0);
  assert.equal((await post(key, callOf('generate_video', plainRequest))).status, 200);
  const line = await waitFor('the log line', () =>
    Promise.resolve(service.log.find((one) => one['msg'] === 'request' && one['accountId'] === accountId)),
  );
  const { path, status, tool, errorCode } = line;
  assert.deepEqual([path, status, tool, errorCode], ['/mcp', 200, 'generate_video', 'insufficient_credits']);
});

test('a failure of ours is logged with the id of its request, by a tool and without one', async () => {
  const { database } = service;
  const take = () => {
    throw new Error('a fault of ours');
  };
  const reads = { ...createRateLimiter({ quota: 1, windowMs: 1 }), take };
  const faulty = await startHttpService({ database, reads });
  try {
    const { key } = await faulty.newAccount(0);
    for (const message of [callOf('get_balance', {}), listTools]) {
      const headers = { ...json, authorization: `Bearer ${key}` };
      const answer = await faulty.send('POST', '/mcp', { headers, body: JSON.stringify(message) });
      assert.match(answer.bytes.toString(), /internal/);
      const crashed = faulty.log.filter(({ msg }) => msg === 'request crashed');
      const line = crashed.find(({ requestId }) => requestId === answer.headers['x-request-id']);
      assert.match(JSON.stringify(line?.['error']), /a fault of ours/, message.method);
    }
  } finally {
    await faulty.close();
  }
});

test('an input as text is read only if a body could have it, and costs nothing otherwise', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const textOf = async (input: string) => {
    const { model } = plainRequest;
    const { status, bytes } = await post(key, callOf('generate_video', { model, input }));
    assert.equal(status, 200);
    return bytes.toString();
  };
  const deep = `{"options": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  for (const unsafe of ['{"prompt": "a", "prompt": "b"}', String.raw`{"prompt": "a\u0000b"}`, deep])
    assert.match(await textOf(unsafe), /input: must be an object/);
  const rows = await service.database.db.run(
    { name: 'test-tasks-of', text: 'select from tasks where account_id = $1' },
    [accountId],
  );
  assert.equal(rows.length, 0);
  assert.match(await textOf('{"prompt": "A lighthouse"}'), /creditsCharged/);
});

test('the text of a result has its main facts, and a video has links to its files', async () => {
  const { key } = await service.newAccount(1_000);
  const call = async (name: string, given: object = {}) => {
    const { bytes } = await post(key, callOf(name, given));
    const { result } = JSON.parse(bytes.toString().replace(/^[\s\S]*?data: /, '')) as {
      readonly result: {
        readonly content: readonly { readonly type: string; readonly text?: string }[];
        readonly structuredContent: Readonly<Record<string, unknown>>;
      };
    };
    const [first, ...links] = result.content;
    return { text: first?.text ?? '', links, data: result.structuredContent };
  };
  assert.match((await call('get_balance')).text, /\b1000\b/);
  assert.match((await call('get_price', plainRequest)).text, /\b165\b.*\bstandard\b/);
  const generate = async (prompt: string) => {
    const { data } = await call('generate_video', { model: plainRequest.model, input: { prompt } });
    return String(data['taskId']);
  };
  const [failed, short, running] = [await generate('1'), await generate('2'), await generate('3')];
  const repeat = await call('generate_video', { model: plainRequest.model, input: { prompt: '3' } });
  assert.deepEqual([repeat.data['taskId'], repeat.data['isRepeat']], [running, true]);
  assert.match(repeat.text, /^No credits were used/);
  assert.match((await call('cancel_video', { taskId: failed })).text, new RegExp(`${failed}.*cancelled.*\\b165\\b`));
  assert.match(
    (await call('get_video', { taskId: failed })).text,
    new RegExp(`${failed} failed, cancelled: .*\\b165\\b`),
  );
  const keys = { videoKey: `results/${short}/video.mp4`, posterKey: `results/${short}/poster.jpg` };
  const refund = { credits: 33, reason: '4.0 s delivered, 5 s ordered' };
  await completeTask(service.database.db, short, { ...madeUpMeasures, ...keys }, refund);
  const { text, links, data } = await call('get_video', { taskId: short });
  assert.match(text, new RegExp(`${short} succeeded\\..*\\b33\\b`));
  const { resultUrls } = data['resultJson'] as { readonly resultUrls: readonly string[] };
  assert.deepEqual(links, [
    { type: 'resource_link', uri: resultUrls[0], name: `${short}.mp4`, mimeType: 'video/mp4' },
    { type: 'resource_link', uri: data['posterUrl'], name: `${short}.jpg`, mimeType: 'image/jpeg' },
  ]);
  assert.match((await call('get_video', { taskId: running })).text, new RegExp(`${running} is waiting, \\d+ %`));
  assert.equal((data['createdBy'] as { readonly kind: string }).kind, 'key');
  const page = await call('list_videos', { limit: 1 });
  assert.match(page.text, new RegExp(`${running}[\\s\\S]*${String(page.data['nextCursor'])}$`));
  assert.equal(page.data['nextCursor'], running);
  const rest = await call('list_videos', { cursor: running });
  const whole = await generate('4');
  const stored = { videoKey: `results/${whole}/video.mp4`, posterKey: `results/${whole}/poster.jpg` };
  await completeTask(service.database.db, whole, { ...madeUpMeasures, ...stored });
  assert.doesNotMatch((await call('get_video', { taskId: whole })).text, /came back/);
  assert.match(rest.text, new RegExp(`${short}[\\s\\S]*${failed}[\\s\\S]*none$`));
});
