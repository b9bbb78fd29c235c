import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { createModerator, type Moderator } from '../../../src/providers/moderation/moderator.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { type ModerationHook, startModerationHook } from '../../fakes/moderation-hook.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { newPerson } from '../../support/service/person.ts';
import { waitFor } from '../../support/wait-for.ts';

// A hook over HTTP in front of the charge, for every way in.

const credits = 10_000;
let hook: ModerationHook;
let database: TestDatabase;
let moderator: Moderator;
let service: HttpService;
/** In the current test. */
let checks = 0;
before(async () => {
  hook = await startModerationHook();
  database = await createTestDatabase();
  moderator = moderatorOf('refuse');
  const check: Moderator['check'] = (...request) => {
    checks += 1;
    return moderator.check(...request);
  };
  service = await startHttpService({ database, moderator: { ...moderator, check } });
});
beforeEach(() => {
  checks = 0;
  hook.answerWith();
  hook.received.length = 0;
});
after(async () => {
  await service.close();
  await moderator.close();
  const violations = await auditLedger(database.db);
  await database.close();
  await hook.close();
  assert.deepEqual(violations, []);
});

function moderatorOf(onError: 'allow' | 'refuse'): Moderator {
  return createModerator({
    installation: {
      shape: 'openai',
      url: hook.openai,
      model: 'omni-moderation-latest',
      readKey: undefined,
      timeoutMs: 20_000,
      onError,
      concurrency: 10,
    },
    catalogue: () => ({ models: new Map() }),
    readSecret: () => () => '',
    linkTo: (url) => url,
    own: [],
    events: { emit: () => {} },
    log: { warn: () => {} },
  });
}

type Account = { readonly accountId: string; readonly key: string };
const spent = async ({ accountId }: Pick<Account, 'accountId'>) =>
  credits - ((await findAccount(database.db, accountId))?.balance ?? NaN);
const requestFor = (prompt: string) => ({ ...plainRequest, input: { prompt } });

const secret = 'blood in the secret harbor';
const json = { 'content-type': 'application/json' };
const tool = (prompt: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'generate_video', arguments: requestFor(prompt) },
});

/** Each way in sends a prompt, and returns the text of the answer. */
const waysIn: Readonly<Record<string, (account: Account, prompt: string) => Promise<string>>> = {
  native: async ({ key }, prompt) => (await service.create(key, requestFor(prompt))).bytes.toString(),
  kie: async ({ accountId }, prompt) => {
    const created = await createKeyUnchecked(database.db, {
      accountId,
      name: 'a',
      scopes: ['tasks:write'],
      dialect: 'kie',
    });
    assert.ok(created);
    const request = { model: 'bytedance/seedance-2-fast', input: { prompt } };
    return (await service.create(created.key, request)).bytes.toString();
  },
  openai: (account, prompt) => post(account, '/v1/videos', { model: plainRequest.model, prompt }),
  openrouter: (account, prompt) => post(account, '/api/v1/videos', { model: plainRequest.model, prompt }),
  ark: (account, prompt) =>
    post(account, '/api/v3/contents/generations/tasks', {
      model: plainRequest.model,
      content: [{ type: 'text', text: prompt }],
    }),
  mcp: ({ key }, prompt) => post({ key }, '/mcp', tool(prompt), { accept: 'application/json, text/event-stream' }),
  console: async ({ accountId }, prompt) => {
    const person = await newPerson(service, { roles: { [accountId]: 'owner' } });
    const path = '/api/v1/jobs/createTask';
    return (await person.ask('POST', path, { accountId, body: requestFor(prompt) })).bytes.toString();
  },
};

async function post({ key }: Pick<Account, 'key'>, path: string, body: object, headers = {}): Promise<string> {
  const authorization = `Bearer ${key}`;
  const answer = await service.send('POST', path, {
    headers: { ...json, authorization, ...headers },
    body: JSON.stringify(body),
  });
  return answer.bytes.toString();
}

for (const [name, create] of Object.entries(waysIn))
  test(`${name}: refused content names its category and costs nothing, other content is created`, async () => {
    const account = await service.newAccount(credits);
    const logged = service.log.length;
    const refused = await create(account, secret);
    assert.match(refused, /content_refused/);
    assert.match(refused, /violence/);
    assert.equal(await spent(account), 0);
    const lines = service.log.slice(logged);
    const line = lines.find(({ msg }) => msg === 'create refused by moderation');
    assert.deepEqual([line?.['accountId'], line?.['category']], [account.accountId, 'violence']);
    assert.doesNotMatch(JSON.stringify(lines), /secret harbor/);
    const created = await create(account, 'a quiet harbor');
    assert.doesNotMatch(created, /content_refused/);
    assert.equal(await spent(account), 165);
    assert.equal(hook.received.length, 2);
  });

test('422 and 503 of a create at our own API', async () => {
  const account = await service.newAccount(credits);
  const refused = await service.create(account.key, requestFor(secret));
  assertRefused(refused, 422, /the content was refused by moderation.*violence/, { category: 'violence' });
  hook.answerWith((response) => response.writeHead(500).end());
  const unchecked = await service.create(account.key, plainRequest);
  assertRefused(unchecked, 503, /could not be checked; nothing was charged/);
  assert.equal(unchecked.headers['retry-after'], '5');
  assert.equal(await spent(account), 0);
});

test('a repeat of an accepted create is not checked again, and keeps its task although the hook would refuse it now', async () => {
  const { key, ...account } = await service.newAccount(credits);
  const idempotent = { 'idempotency-key': 'k' };
  const marked = (count: number) => ({ 'x-stainless-retry-count': String(count) });
  for (const [first, repeat] of [
    [idempotent, idempotent],
    [marked(0), marked(1)],
  ]) {
    hook.answerWith();
    hook.received.length = 0;
    const { status, json: created } = await service.create(key, plainRequest, first);
    assert.equal(status, 200);
    hook.answerWith((response) => response.writeHead(500).end());
    const again = await service.create(key, plainRequest, repeat);
    assert.deepEqual([again.status, again.json.data], [200, created.data]);
    assert.equal(hook.received.length, 1);
  }
  const reused = await service.create(key, requestFor('another'), idempotent);
  assert.equal(reused.json.error, 'idempotency_key_reused');
  assert.equal(hook.received.length, 1, 'a create that is refused anyway is not checked');
  assert.equal(await spent(account), 2 * 165);
});

test('a create that the account cannot pay is refused without a check', async () => {
  const { key } = await service.newAccount(100);
  assert.equal((await service.create(key, plainRequest)).json.error, 'insufficient_credits');
  assert.equal(hook.received.length, 0);
});

test('two attempts at one create that wait for the hook together ask it once and become one task', async () => {
  const { key, ...account } = await service.newAccount(credits);
  const held: ServerResponse[] = [];
  hook.answerWith((response) => held.push(response));
  const headers = { 'idempotency-key': 'together' };
  const creates = [1, 2].map(() => service.create(key, plainRequest, headers));
  await waitFor('both checks', () => checks === 2);
  await waitFor('the request of the hook', () => held[0]);
  held[0]?.writeHead(200, json).end(JSON.stringify({ results: [{ flagged: false }] }));
  const answers = await Promise.all(creates);
  assert.equal(new Set(answers.map((answer) => answer.json.data['taskId'])).size, 1);
  assert.equal(await spent(account), 165);
  assert.equal(hook.received.length, 1);
});

test('an attempt that is refused while another one of the same create is accepted returns its task', async () => {
  const { key, ...account } = await service.newAccount(credits);
  const headers = { 'idempotency-key': 'raced' };
  // In another process, whose hook judged otherwise, the same create is accepted during the check of this one.
  const other = await startHttpService({ database, acceptCreate: createTaskAcceptor(database.db) });
  let accepted: unknown;
  hook.answerWith(async (response) => {
    accepted = (await other.create(key, plainRequest, headers)).json.data;
    response.writeHead(200, json).end(JSON.stringify({ results: [{ flagged: true }] }));
  });
  const answer = await service.create(key, plainRequest, headers);
  await other.close();
  assert.deepEqual([answer.status, answer.json.data], [200, accepted]);
  assert.equal(answer.headers['idempotency-replayed'], 'true');
  assert.equal(await spent(account), 165);
});

test('onError: allow accepts creates while the hook is broken', async () => {
  const lenient = moderatorOf('allow');
  const other = await startHttpService({ database, moderator: lenient });
  const account = await other.newAccount(credits);
  hook.answerWith((response) => response.destroy());
  assert.equal((await other.create(account.key, plainRequest)).status, 200);
  await other.close();
  await lenient.close();
  assert.equal(await spent(account), 165);
});
