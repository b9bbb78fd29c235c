import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listApiKeys } from '../../../src/accounts/keys/keys.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { listShareLinksOfAccount, maxShareLinksOfVideo } from '../../../src/library/gallery/share-links.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { deleteExpiredShareLinks } from '../../../src/library/operations/delete-expired-rows.ts';
import { dayMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newPerson, shell } from '../../support/service/person.ts';
import { assertRefused, clientOf, storeVideo } from './gallery-stage.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const publicUrl = 'http://media.test';
const prompt = 'heliotrope';

async function newClient() {
  const { accountId, key } = await service.newAccount(100_000, ['tasks:write', 'tasks:read', 'content:delete']);
  const { taskId } = await storeVideo(service, accountId, prompt);
  const client = clientOf(service, key);
  const share = async (more: object = {}) => {
    const data = await client.data('share', { taskId, ...more });
    const { url, link } = data as { url: string; link: { linkId: string; expireTime: number } };
    assert.ok(url.startsWith(`${publicUrl}/s/`));
    return { path: url.slice(publicUrl.length), linkId: link.linkId, expireTime: link.expireTime };
  };
  return { accountId, key, taskId, ...client, share };
}

const open = (path: string) => service.send('GET', path, {});
const run = (name: string, text: string, values: readonly unknown[]) =>
  service.database.db.run<Record<string, unknown>>({ name: `test-${name}`, text }, values);

/** The page of a link that shows nothing. */
async function assertMissing(path: string): Promise<void> {
  const [answer, unknown] = [await open(path), await open(`/s/${'a'.repeat(43)}`)];
  assert.equal(answer.status, 404);
  assert.deepEqual(answer.bytes, unknown.bytes, 'the page does not reveal the reason');
}

test('200 the page shows the video with a link that plays, its title, and nothing else of the task or its account', async () => {
  const { accountId, taskId, share } = await newClient();
  const { path } = await share({ title: 'Tea & <biscuits>' });
  const { status, headers, bytes } = await open(path);
  const page = bytes.toString();
  assert.equal(status, 200);
  assert.match(page, /<h1>Tea &#38; &#60;biscuits&#62;<\/h1>/);
  for (const secret of [prompt, accountId, 'videogen-2.0-fast', 'Videogen', 'Shared by', '>test<'])
    assert.ok(!page.includes(secret), secret);
  const [src = '', poster = ''] = ['src', 'poster'].map((name) => new RegExp(` ${name}="([^"]+)"`).exec(page)?.[1]);
  for (const url of [src, poster]) {
    assert.equal((await open(url.replaceAll('&#38;', '&').slice(publicUrl.length))).status, 200, url);
  }
  assert.ok(src.includes(taskId), 'the only trace of the task is in the address of its video');
  const policy = String(headers['content-security-policy']);
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  assert.deepEqual(
    ['referrer-policy', 'x-robots-tag', 'cache-control', 'content-type'].map((name) => headers[name]),
    ['no-referrer', 'noindex, nofollow', 'no-store', 'text/html; charset=utf-8'],
  );
});

test('the name of the account is shown only if the link is made so', async () => {
  const { share } = await newClient();
  const { path } = await share({ showsAccountName: true });
  assert.match((await open(path)).bytes.toString(), /Shared by test</);
});

test('the secret of a link is stored as a hash only, and is in no log', async () => {
  const { share } = await newClient();
  const { path, linkId } = await share();
  await open(path);
  const secret = path.slice('/s/'.length);
  const [row] = await run('share-link', 'select to_jsonb(share_links)::text as row from share_links where id = $1', [
    linkId,
  ]);
  assert.ok(!JSON.stringify(row).includes(secret));
  assert.ok(!service.log.some((line) => JSON.stringify(line).includes(secret)));
  assert.ok(service.log.some(({ path: logged }) => logged === '/s/…'));
});

test('a link ends with its time, and is then deleted', async () => {
  const { share, taskId, data, request } = await newClient();
  const { path, linkId } = await share();
  assert.equal((await open(path)).status, 200);
  await run('expire-link', `update share_links set expires_at = now() where id = $1`, [linkId]);
  await assertMissing(path);
  assertRefused(await request('revokeLink', { linkId }), 404, 'share_link_not_found');
  assert.deepEqual((await data(`shareLinks?taskId=${taskId}`))['links'], []);
  assert.ok((await deleteExpiredShareLinks(service.database.db, Date.now() + 1_000, 100)) >= 1);
  assert.deepEqual(await run('link-rows', 'select id from share_links where id = $1', [linkId]), []);
});

test('a link ends when it is revoked; another account cannot see or revoke it', async () => {
  const { share, taskId, request, data } = await newClient();
  const other = await newClient();
  const [{ path, linkId }, remaining] = [await share({ title: ' one  ' }), await share()];
  assert.deepEqual((await other.data(`shareLinks?taskId=${taskId}`))['links'], []);
  assertRefused(await other.request('revokeLink', { linkId }), 404, 'share_link_not_found');
  assertRefused(await other.request('share', { taskId }), 404, 'task_not_found');
  const listed = (await data(`shareLinks?taskId=${taskId}`))['links'] as { linkId: string; title: unknown }[];
  assert.deepEqual(
    listed.map((link) => [link.linkId, link.title]),
    [
      [remaining.linkId, null],
      [linkId, 'one'],
    ],
  );
  await data('revokeLink', { linkId });
  await assertMissing(path);
  assert.equal((await open(remaining.path)).status, 200);
  assertRefused(await request('revokeLink', { linkId }), 404, 'share_link_not_found');
});

test('the links of an account are listed for its export, in the order of their creation and page by page', async () => {
  const [own, other] = [await newClient(), await newClient()];
  const ids = [await own.share({ title: 'one' }), await own.share(), await own.share()].map(({ linkId }) => linkId);
  const expired = await own.share();
  await run('expire-link', `update share_links set expires_at = now() where id = $1`, [expired.linkId]);
  await other.share();
  const list = async (cursor: string | undefined, limit: number) =>
    (await listShareLinksOfAccount(service.database.db, own.accountId, cursor, limit)).map(({ linkId }) => linkId);
  assert.deepEqual(await list(undefined, 10), ids);
  assert.deepEqual([await list(undefined, 2), await list(ids[1], 2)], [ids.slice(0, 2), ids.slice(2)]);
});

test('a link ends with the retention of its video', async () => {
  const { share, taskId } = await newClient();
  const { path } = await share();
  await markMediaDeleted(service.database.db, taskId);
  await assertMissing(path);
});

test('links end with the content of the task, and while the account is suspended or closed', async () => {
  const [suspended, deleted, closed] = [await newClient(), await newClient(), await newClient()];
  const paths = [await suspended.share(), await deleted.share(), await closed.share()].map(({ path }) => path);
  const [ofSuspended = '', ofDeleted = '', ofClosed = ''] = paths;
  await run('suspend', 'update accounts set suspended_at = now() where id = $1', [suspended.accountId]);
  await assertMissing(ofSuspended);
  assertRefused(await suspended.request('share', { taskId: suspended.taskId }), 403, 'account_suspended');
  await run('reinstate', 'update accounts set suspended_at = null where id = $1', [suspended.accountId]);
  assert.equal((await open(ofSuspended)).status, 200);
  const answer = await service.send('POST', '/api/v1/jobs/deleteTask', {
    headers: { authorization: `Bearer ${deleted.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ taskId: deleted.taskId }),
  });
  assert.equal(answer.status, 200);
  await assertMissing(ofDeleted);
  assert.deepEqual(await run('links-of-task', 'select id from share_links where task_id = $1', [deleted.taskId]), []);
  assertRefused(await deleted.request('share', { taskId: deleted.taskId }), 404, 'task_not_found');
  await closeAccountAs(service.database.db, shell, {
    accountId: closed.accountId,
    reason: 'test',
  });
  await assertMissing(ofClosed);
});

test('422 an expiry in the past or after more than a year; 409 beyond 20 links of a video', async () => {
  const { share, request, taskId } = await newClient();
  for (const expireTime of [Date.now() - 1, Date.now() + 367 * dayMs]) {
    assertRefused(await request('share', { taskId, expireTime }), 422, 'invalid_request');
  }
  const expireTime = Date.now() + 365 * dayMs;
  assert.equal((await share({ expireTime })).expireTime, expireTime);
  for (let count = 1; count < maxShareLinksOfVideo; count += 1) await share();
  const beyond = await request('share', { taskId });
  assertRefused(beyond, 409, 'too_many_share_links');
  assert.deepEqual(beyond.json.data, { limit: maxShareLinksOfVideo });
});

test('links that a person or a key makes and revokes are security events of the account, without the secret', async () => {
  const { accountId, taskId, ...client } = await newClient();
  const person = await newPerson(service, { roles: { [accountId]: 'owner' } });
  const post = async (path: string, body: unknown) =>
    (await person.ask('POST', `/api/v1/gallery/${path}`, { accountId, body })).json.data;
  const { link } = (await post('share', { taskId })) as { link: { linkId: string; expireTime: number } };
  await post('revokeLink', { linkId: link.linkId });
  const { json } = await person.ask('GET', '/api/console/v1/events?limit=2', { accountId });
  const details = { linkId: link.linkId, taskId, expireTime: link.expireTime };
  assert.deepEqual(
    (json.data['events'] as Record<string, unknown>[]).map((event) => [
      event['kind'],
      event['userId'],
      event['email'],
      typeof event['address'],
      event['details'],
    ]),
    [
      ['share_link_revoked', person.userId, person.email, 'string', details],
      ['share_link_made', person.userId, person.email, 'string', details],
    ],
  );
  const { linkId, expireTime } = await client.share();
  const [apiKey] = await listApiKeys(service.database.db, accountId);
  const latest = await person.ask('GET', '/api/console/v1/events?limit=1', { accountId });
  const [byKey] = latest.json.data['events'] as Record<string, unknown>[];
  assert.deepEqual(
    [byKey?.['userId'], byKey?.['email'], byKey?.['details']],
    [null, null, { linkId, taskId, expireTime, keyId: apiKey?.keyId }],
  );
});

test('a viewer cannot share, revoke or label', async () => {
  const { accountId, taskId, share } = await newClient();
  const { linkId } = await share();
  const viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  const bodies = { share: { taskId }, revokeLink: { linkId }, label: { taskIds: [taskId], favorite: true } };
  for (const [path, body] of Object.entries(bodies)) {
    const { json } = await viewer.ask('POST', `/api/v1/gallery/${path}`, { accountId, body });
    assert.equal(json.error, 'scope_missing', path);
  }
});

test('429 an address that opens pages too often gets no page, whether or not its link is valid', async () => {
  const limited = await startHttpService({
    database: service.database,
    sharePages: createRateLimiter({ quota: 2, windowMs: 3_600_000 }),
  });
  const { share } = await newClient();
  const { path } = await share();
  const get = (what: string) => limited.send('GET', what, {});
  for (let count = 0; count < 2; count += 1) assert.equal((await get('/s/unknown')).status, 404);
  const { status, headers } = await get(path);
  assert.deepEqual([status, headers['ratelimit-policy']], [429, '"share-pages";q=2;w=3600']);
  assert.ok(Number(headers['retry-after']) > 0);
  assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
  await limited.close();
});
