import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { streamAccountAsJsonLines } from '../../../src/api/accounts/stream-account-as-json-lines.ts';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { createTopUpOrder } from '../../../src/credits/payments/top-ups.ts';
import { setFavoritesAndTags } from '../../../src/library/gallery/favorites-and-tags.ts';
import { shareVideo } from '../../../src/library/gallery/share-links.ts';
import { reserveUpload } from '../../../src/media/references/upload-rows.ts';
import { rowsOfAccount } from '../../support/database/listed-rows.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';
import { newMember, origin } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let db: Database;
before(async () => {
  service = await startHttpService();
  ({ db } = service.database);
});
after(async () => {
  const violations = await auditLedger(db);
  await service.close();
  assert.deepEqual(violations, []);
});

type Line = Readonly<Record<string, unknown>> & { readonly kind: string };
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

async function filled(prompt: string) {
  const { accountId, person } = await newMember(service);
  const made = await createKeyUnchecked(db, { accountId, name: prompt, scopes });
  const endpoint = { url: `http://events.test/${prompt}`, types: eventTypes };
  await setEventEndpoint(db, accountId, endpoint);
  await setSpendCaps(db, accountId, { kind: 'account', id: accountId }, { day: 5_000_000 });
  const offer = { title: prompt, credits: 10, price: { currency: 'EUR', minorUnits: 99 } };
  await createTopUpOrder(db, { name: 'stripe', isTest: true }, { accountId, name: `package-${prompt}`, offer });
  const receipt = `update top_ups set receipt_url = 'https://receipts.test/${prompt}' where account_id = $1`;
  await db.run({ name: 'test-receipt', text: receipt, plannedAnew: true }, [accountId]);
  await acceptTestTask(db, accountId, taskParam(prompt));
  const { taskId } = await owedCallback(db, accountId, `http://receiver.test/${prompt}`, 'success');
  const labels = { accountId, taskIds: [taskId], isFavorite: true, addTags: [prompt], removeTags: [] };
  assert.ok(await setFavoritesAndTags(db, labels));
  const by = { kind: 'person', userId: person.userId, email: person.email, isRecent: true } as const;
  const link = { taskId, title: prompt, showsAccount: true, expiresAt: Date.now() + 60_000 };
  assert.equal((await shareVideo(db, { accountId, by, origin }, link)).kind, 'shared');
  const upload = { uploadId: randomUUID(), fileName: 'image.jpg', bytes: 1, retentionMs: 60_000 } as const;
  await reserveUpload(db, { ...upload, accountId });
  await person.ask('POST', '/api/console/v1/members/invite', {
    accountId,
    body: { email: `${prompt}@example.com`, role: 'viewer' },
  });
  return { accountId, person, taskId, uploadId: upload.uploadId, key: made?.key ?? '' };
}

test('200 an owner gets everything of the account as lines, without secrets, and nothing of another account', async () => {
  const [mine, theirs] = [await filled('mine'), await filled('theirs')];
  const sinceMs = Date.now();
  const answer = await mine.person.ask('GET', '/api/console/v1/account/export', { accountId: mine.accountId });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^application\/x-ndjson/);
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="account.jsonl"');
  const text = answer.bytes.toString();
  const lines = linesOf(text);
  const kinds = [...new Set(lines.map(({ kind }) => kind))];
  const expected = [
    'account',
    'task',
    'videoLabels',
    'shareLink',
    'ledgerEntry',
    'topUp',
    'spendCap',
    'callback',
    'eventEndpoint',
    'event',
    'key',
    'member',
    'invitation',
    'upload',
    'securityEvent',
    'end',
  ];
  assert.deepEqual(kinds, expected);
  assert.deepEqual(lines.at(-1), { kind: 'end', lines: lines.length - 1 });
  const ofKind = (name: string) => lines.filter(({ kind }) => kind === name);
  const { createTime, exportTime, ...account } = lines[0] ?? assert.fail();
  assert.deepEqual(account, {
    kind: 'account',
    accountId: mine.accountId,
    name: 'test',
    balance: 10_000 - 2 * 132,
    closeTime: null,
  });
  assert.ok(Number(createTime) < sinceMs && Number(exportTime) >= sinceMs);
  assert.deepEqual(ofKind('videoLabels'), [
    { kind: 'videoLabels', taskId: mine.taskId, favorite: true, tags: ['mine'] },
  ]);
  const [link] = ofKind('shareLink');
  assert.deepEqual([link?.['taskId'], link?.['title'], link?.['showsAccountName']], [mine.taskId, 'mine', true]);
  const [upload] = ofKind('upload');
  assert.deepEqual([upload?.['uploadId'], upload?.['fileName']], [mine.uploadId, 'image.jpg']);
  assert.match(String(upload?.['url']), /^http:\/\/media\.test\/media\/uploads\/.*signature=/);
  const [eventEndpoint] = ofKind('eventEndpoint');
  assert.deepEqual(eventEndpoint, { kind: 'eventEndpoint', url: 'http://events.test/mine', types: eventTypes });
  const [event] = ofKind('event');
  assert.deepEqual([event?.['type'], event?.['taskId']], ['task.succeeded', mine.taskId]);
  const [callback] = ofKind('callback');
  assert.deepEqual([callback?.['taskId'], callback?.['state']], [mine.taskId, 'pending']);
  assert.deepEqual(
    ofKind('topUp').map(({ package: name, state, price, receiptUrl }) => [name, state, price, receiptUrl]),
    [['package-mine', 'open', { currency: 'EUR', minorUnits: 99 }, 'https://receipts.test/mine']],
  );
  assert.deepEqual(
    ofKind('spendCap').map(({ subject, period, cap }) => [subject, period, cap]),
    [['account', 'day', 5_000_000]],
  );
  const people = await mine.person.ask('GET', '/api/console/v1/members', { accountId: mine.accountId });
  const { members, invitations } = people.json.data as { members: object[]; invitations: object[] };
  const namesOf = (rows: readonly object[]) => rows.map((row) => Object.keys(row).toSorted());
  assert.deepEqual(namesOf(ofKind('member')), namesOf(members.map((member) => ({ kind: 'member', ...member }))));
  assert.deepEqual(
    ofKind('invitation'),
    invitations.map((invitation) => ({ kind: 'invitation', ...invitation })),
  );
  assert.deepEqual([members.length, invitations.length], [1, 1]);
  const { keys } = (await mine.person.ask('GET', '/api/v1/keys', { accountId: mine.accountId })).json.data as {
    keys: { uses: object }[];
  };
  assert.deepEqual(
    ofKind('key'),
    keys.map(({ uses: _uses, ...key }) => ({ kind: 'key', ...key })),
  );
  const task = lines.find(({ taskId }) => taskId === mine.taskId);
  assert.ok(task);
  const { resultUrls } = task['resultJson'] as { resultUrls: string[] };
  assert.match(resultUrls[0] ?? '', /^http:\/\/media\.test\/media\/results\/.*signature=/);
  for (const strange of [theirs.accountId, theirs.taskId, theirs.person.userId, theirs.uploadId, 'theirs'])
    assert.ok(!text.includes(strange), strange);
  assert.ok(!text.includes(mine.key) && !/whsec_|argon2|"hash"|sealed/.test(text), 'no secret, and no hash of one');
});

test('an export of a closed account has the time of its end', async () => {
  const { accountId } = await service.newAccount(0);
  await db.run({ name: 'test-close', text: 'update accounts set closed_at = to_timestamp(5) where id = $1' }, [
    accountId,
  ]);
  const { value } = await streamAccountAsJsonLines(db, service.deps.resultStore, accountId).next();
  assert.equal(linesOf(value ?? '')[0]?.['closeTime'], 5_000);
});

test('a thousand tasks are read page by page, on demand', async () => {
  const names = `id, account_id, model, price_name, param, credits_charged, request_sha256, deadline_ms, dialect, created_at`;
  const text = `insert into tasks (${names})
    select gen_random_uuid(), account_id, model, price_name, param, credits_charged, request_sha256, deadline_ms, dialect,
      created_at - n * interval '1 second' from tasks, generate_series(1, 999) n where id = $1`;
  // They have no charge, which the audit at the end would find: they go with their account's own database.
  const apart = await startHttpService();
  try {
    const other = apart.database.db;
    const { accountId: many } = await apart.newAccount(100_000_000);
    const seed = await acceptTestTask(other, many, taskParam('many'));
    await other.run({ name: 'test-many', text }, [seed]);
    const statements: string[] = [];
    const counted: Database = {
      ...other,
      run: (statement, values) => {
        statements.push(statement.name);
        return other.run(statement, values);
      },
    };
    const lines = streamAccountAsJsonLines(counted, apart.deps.resultStore, many);
    await lines.next();
    await lines.next();
    const pages = () => statements.filter((name) => name === 'list-tasks').length;
    assert.equal(pages(), 1, 'nothing is read ahead');
    let tasks = 64;
    for await (const chunk of lines) {
      assert.ok(chunk.length < 1_000_000);
      tasks += linesOf(chunk).filter(({ kind }) => kind === 'task').length;
    }
    assert.equal(tasks, 1_000);
    assert.equal(pages(), 16);
  } finally {
    await apart.close();
  }
});

test('an export has every row once, also of lists of several pages, and none for an account that does not exist', async () => {
  const apart = await startHttpService();
  try {
    const other = apart.database.db;
    const { accountId } = await apart.newAccount(0);
    const client = new pg.Client({ connectionString: apart.database.url });
    await client.connect();
    await client.query(rowsOfAccount(accountId, { rows: 200 }));
    const labels = `
insert into task_favorites (task_id, account_id, task_created_at)
select id, account_id, created_at from tasks where account_id = '${accountId}';
insert into share_links (id, hash, account_id, task_id, shows_account, expires_at)
select gen_random_uuid(), sha256(id::text::bytea), account_id, id, false, now() + interval '1 day' from tasks
where account_id = '${accountId}';
insert into security_events (kind, account_id, details)
select 'signed_in', '${accountId}', '{}' from generate_series(1, 200)`;
    await client.query(labels);
    await client.end();
    let text = '';
    for await (const lines of streamAccountAsJsonLines(other, apart.deps.resultStore, accountId)) text += lines;
    const exported = linesOf(text);
    const count = (kind: string) => exported.filter((line) => line.kind === kind).length;
    // A tenth of the tasks has not ended.
    assert.deepEqual(
      ['videoLabels', 'shareLink', 'ledgerEntry', 'topUp', 'callback', 'event', 'securityEvent'].map(count),
      [200, 200, 2_000, 200, 180, 180, 200],
    );
    assert.equal(new Set(text.split('\n')).size, exported.length + 1, 'no line is there twice');
    const attempts = exported.flatMap((line) => (line.kind === 'callback' ? [line['attempts']] : []));
    assert.ok(attempts.every((of) => Array.isArray(of) && of.length === 3));
    for await (const lines of streamAccountAsJsonLines(other, apart.deps.resultStore, randomUUID())) assert.fail(lines);
  } finally {
    await apart.close();
  }
});

test('an export has every key, every member and every open invitation, however many there are', async () => {
  const { accountId } = await newMember(service);
  const keys = `
insert into api_keys (id, account_id, name, hash, hint, scopes, revoked_at)
select gen_random_uuid(), $1::uuid, 'rotated', sha256(($1::text || n)::bytea), 'vg_', '{}', now() from generate_series(1, 1100) n`;
  await db.run({ name: 'test-many-keys', text: keys }, [accountId]);
  const users = `
with made as (
  insert into users (id, email) select gen_random_uuid(), 'many-' || n || '@example.com' from generate_series(1, 1100) n
  returning id)
insert into memberships (account_id, user_id, role) select $1, id, 'viewer' from made`;
  await db.run({ name: 'test-many-members', text: users }, [accountId]);
  const invitations = `
insert into one_time_links (id, hash, purpose, email, account_id, role, makes_operator, expires_at)
select gen_random_uuid(), sha256(($1::text || n)::bytea), 'invite', 'invited-' || n || '@example.com', $1::uuid, 'viewer', false,
  now() + interval '1 day'
from generate_series(1, 1100) n`;
  await db.run({ name: 'test-many-invitations', text: invitations }, [accountId]);
  let text = '';
  for await (const lines of streamAccountAsJsonLines(db, service.deps.resultStore, accountId)) text += lines;
  const count = (kind: string) => linesOf(text).filter((line) => line.kind === kind).length;
  assert.deepEqual([count('key'), count('member'), count('invitation')], [1_100, 1_101, 1_100]);
});
