import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { operatorActions } from '../../src/operators/operator.ts';
import { createApiKey } from '../../src/accounts/keys.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { inviteAs } from '../../src/people/people.ts';
import { createOperator } from '../../src/operators/operators.ts';
import { createSession } from '../../src/people/sessions.ts';
import { createUser } from '../../src/people/users.ts';
import type { TestDatabase } from '../support/database.ts';
import { isObject } from '../support/http-client.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { createCodesAs } from '../../src/credits/redemption-codes.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { python } from '../fakes/python.ts';
import { runsWholeMatrix } from '../support/tier.ts';

// Schemathesis reads /openapi.json and asks what it allows, what it forbids, and what lies just beside. It is a Python
// program, installed with the other Python packages of the tests.
const program = python.includes('/') ? join(dirname(python), 'schemathesis') : 'schemathesis';
const isThere = spawnSync(program, ['--version']).status === 0;
const limitMs = 600_000;

// Whether valid data is accepted is not asked: an account without credits is refused for other reasons than the schema.
const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']
  .concat([
    'response_headers_conformance',
    'response_schema_conformance',
    'negative_data_rejection',
    'unsupported_method',
  ])
  .concat(['ignored_auth', 'use_after_free']);

const skip = !isThere && 'schemathesis is not installed';
const operatorsPaths = '^/api/admin/';
const ending = '^/api/admin/v1/(?:accounts/close|people/erase)$';

test('whatever follows from the OpenAPI document is answered as it says, never with a 5xx', { skip }, async () => {
  await withService(async ({ database, baseUrl }) => {
    const { key } = await createTestAccount(database, 0);
    const extra = ['--exclude-path-regex', operatorsPaths, '--max-examples', String(runsWholeMatrix ? 15 : 3)];
    const { code, output } = await schemathesis(`${baseUrl}/openapi.json`, baseUrl, key, extra);
    assert.equal(code, 0, output);
  });
});

test('so are the requests of operators, about things that are there and things that are not', { skip }, async () => {
  await withService(async ({ database: { db }, database, baseUrl, settings }) => {
    const { key } = await createOperator(db, { name: 'schemathesis' });
    const description = join(settings.dataFolder, 'openapi.json');
    await writeFile(
      description,
      withIds(await (await fetch(`${baseUrl}/openapi.json`)).text(), await thingsIn(database)),
    );
    // A closed account and an erased person refuse every other change, so these two come last.
    for (const paths of [
      ['--include-path-regex', operatorsPaths, '--exclude-path-regex', ending],
      ['--include-path-regex', ending],
    ]) {
      const { code, output } = await schemathesis(description, baseUrl, key, [
        ...paths,
        '--max-examples',
        String(runsWholeMatrix ? 10 : 5),
      ]);
      assert.equal(code, 0, output);
    }
    const done = new Set((await listActions(db, { limit: 10_000 })).map(({ action }) => action));
    assert.deepEqual(
      operatorActions.filter((action) => !done.has(action) && !outOfReach.includes(action)),
      [],
      'every change was reached',
    );
    assert.deepEqual(await auditLedger(db), []);
  });
});

/**
 * What only the command line or a session does, sign-ups, which are off here, and what chance seldom hits: the withdrawal of a price
 * before it is in force, and the removal of an announcement before its end.
 */
const outOfReach: readonly string[] = [
  'operators.create',
  'operators.revoke',
  'callback_secret.rotate',
  'caps.set',
  'events.set',
  'events.remove',
  'event_secret.rotate',
  'accounts.sign_up',
  'accounts.view',
  'announcement.remove',
  'people.sign_up_link',
  'prices.withdraw',
];

async function withService(work: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startTestService();
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

type Ids = Readonly<Record<string, readonly string[]>>;

/** Accounts, tasks, keys, people and an invitation that operators may change; made-up ids would all lead to 404. */
async function thingsIn(database: TestDatabase): Promise<Ids> {
  const { db } = database;
  const { accountId } = await createTestAccount(database);
  const made = await createApiKey(db, { accountId, name: 'a', scopes: ['tasks:read'] });
  assert.ok(made);
  // Several, so that chance chooses one of them for each change.
  const waiting: string[] = [];
  while (waiting.length < 4) waiting.push(await acceptTestTask(db, accountId, taskParam('[[instant]]')));
  const { taskId: ended } = await owedCallback(db, accountId, 'http://127.0.0.1:1/');
  const people = ['a', 'b', 'c'].map((name) => ({
    email: `${name}@example.com`,
    passwordHash: 'x',
    isOperator: false,
  }));
  const users = [await createUser(db, { email: 'd@example.com', passwordHash: 'x', isOperator: true })];
  for (const person of people) users.push(await createUser(db, person));
  const userId = users.map((user) => user.userId);
  for (const id of userId) await createSession(db, id, { address: '10.0.0.1', userAgent: 'a' });
  const invited = { email: 'e@example.com', isOperator: true };
  const link = await inviteAs(db, { kind: 'command_line', name: 'ada' }, invited);
  assert.ok(link);
  const batch = { name: 'spring', credits: 5, codes: 1 };
  const { batchId } = await createCodesAs(db, { kind: 'command_line', name: 'ada' }, batch);
  const keyId = [made.keyId];
  return {
    accountId: [accountId],
    taskId: [...waiting, ended],
    keyId,
    linkId: [link.linkId],
    batchId: [batchId],
    userId,
  };
}

/** The document, in which the ids that requests carry are some that exist. */
function withIds(document: string, ids: Ids): string {
  const schemaOf = (name: string) => ({ type: 'string', enum: ids[name] });
  const parsed: unknown = JSON.parse(document, (name: string, value: unknown) => {
    if (!isObject(value)) return value;
    if (ids[name] !== undefined && value['format'] === 'uuid') return schemaOf(name);
    const parameter = value['in'] === 'query' ? String(value['name']) : '';
    return ids[parameter] === undefined ? value : { ...value, schema: schemaOf(parameter) };
  });
  return JSON.stringify(parsed);
}

/** Its own list of rejections, and those of a request that is too large to be read. */
const rejections = ['400', '401', '403', '404', '405', '406', '409', '415', '422', '428', '429', '5xx'].concat([
  '413',
  '414',
  '431',
]);

async function schemathesis(
  description: string,
  baseUrl: string,
  key: string,
  extra: readonly string[],
): Promise<{ code: number; output: string }> {
  const config = join(await mkdtemp(join(tmpdir(), 'videogen-schemathesis-')), 'schemathesis.toml');
  await writeFile(config, `[checks]\nnegative_data_rejection.expected-statuses = ${JSON.stringify(rejections)}\n`);
  const args = [
    '--config-file',
    config,
    'run',
    description,
    '--url',
    baseUrl,
    '--header',
    `Authorization: Bearer ${key}`,
  ]
    .concat(['--checks', checks.join(','), '--generation-deterministic', ...extra])
    .concat(['--suppress-health-check', 'all', '--request-timeout', '70', '--no-color']);
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: limitMs, maxBuffer: 64 * 1024 * 1024, cwd: tmpdir() },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` });
      },
    );
  });
}
