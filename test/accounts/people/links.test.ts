import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { invitePersonAs, createResetLinkAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { addPasskey, listPasskeys } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import {
  type Browser,
  goodPassword,
  newBrowser,
  newMember,
  newPerson,
  origin,
  shell,
  signIn,
} from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const credential = { credentialId: 'made-up', publicKey: Buffer.from('key'), counter: 0, transports: [] };
const show = (browser: Browser, token: string) =>
  browser.ask('POST', '/api/console/v1/links/show', { body: { token } });
const accept = (browser: Browser, token: string, password = goodPassword) =>
  browser.ask('POST', '/api/console/v1/links/accept', { body: { token, password } });

async function invited(email: string) {
  const { accountId } = await service.newAccount(0);
  const link = await invitePersonAs(service.database.db, shell, {
    email,
    isOperator: false,
    accountId,
    role: 'viewer',
  });
  assert.ok(link);
  return { ...link, accountId };
}

test('rule 13: a link works once, until it expires, and reveals nothing afterwards', async () => {
  const { token } = await invited('once@example.com');
  const browser = newBrowser(service);
  assert.equal((await show(browser, token)).status, 200);
  assert.equal((await accept(browser, token)).status, 200);
  const expired = await invited('late@example.com');
  const text = 'update one_time_links set expires_at = now() where id = $1';
  await service.database.db.run({ name: 'test-expire-link', text }, [expired.linkId]);
  for (const useless of [token, expired.token, 'x', '', 'a'.repeat(43)]) {
    for (const answer of [await show(browser, useless), await accept(newBrowser(service), useless)]) {
      assert.deepEqual([answer.status, answer.json.error, answer.json.data], [404, 'link_not_found', {}]);
    }
  }
});

test('rule 13: of concurrent uses one works', async () => {
  const { token } = await invited('race@example.com');
  const answers = await Promise.all(Array.from({ length: 5 }, () => accept(newBrowser(service), token)));
  assert.deepEqual(
    answers.map(({ status }) => status).filter((status) => status === 200),
    [200],
  );
});

test('rule 13: of links to one new address that are used concurrently one chooses the password, and the others open nothing', async () => {
  const email = 'together@example.com';
  const links = await Promise.all(Array.from({ length: 4 }, () => invited(email)));
  const used = await Promise.all(
    links.map(async ({ token }, index) => {
      const browser = newBrowser(service);
      const password = `the password of person ${index}`;
      return { ...(await accept(browser, token, password)), browser, password };
    }),
  );
  const through = used.filter(({ status }) => status === 200);
  assert.equal(through.length, 1, JSON.stringify(used.map(({ status, json }) => [status, json.error])));
  for (const { status, browser, password } of used) {
    const right = status === 200;
    assert.equal(browser.cookie() !== undefined, right);
    assert.equal((await signIn(newBrowser(service), email, password)).status, right ? 200 : 401);
  }
});

test('a reset revokes the password, passkeys and sessions', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  const { email, userId } = person;
  await addPasskey(db, person, { name: 'of an intruder', credential, origin });
  const link = await createResetLinkAs(db, shell, email);
  assert.ok(link);
  assert.equal((await accept(newBrowser(service), link.token, 'another good password')).status, 200);
  assert.deepEqual(await listPasskeys(db, userId), []);
  assert.equal((await person.ask('GET', '/api/console/v1/me')).status, 401);
  assert.equal((await signIn(newBrowser(service), email)).status, 401);
  assert.equal((await signIn(newBrowser(service), email, 'another good password')).status, 200);
});

test('rule 13: a reset replaces earlier ones, and those of a disabled person are not found', async () => {
  const { db } = service.database;
  const { email, userId } = await newPerson(service);
  const [first, second] = [await createResetLinkAs(db, shell, email), await createResetLinkAs(db, shell, email)];
  assert.ok(first && second);
  const browser = newBrowser(service);
  assert.equal((await show(browser, first.token)).json.error, 'link_not_found');
  const text = 'update users set disabled_at = now() where id = $1';
  await db.run({ name: 'test-disable-one', text }, [userId]);
  assert.equal((await accept(browser, second.token)).json.error, 'link_not_found');
  assert.equal(await createResetLinkAs(db, shell, 'unknown@example.com'), undefined);
});

test('rule 13: the secret of a link is in no path, no log and no table', async () => {
  const { accountId, person } = await newMember(service);
  const body = { email: 'new@example.com', role: 'member' };
  const made = await person.ask('POST', '/api/console/v1/members/invite', { accountId, body });
  const url = String(made.json.data['url']);
  assert.match(url, new RegExp(`^${service.url}/console/invite#[\\w-]{43}$`));
  const token = url.slice(url.indexOf('#') + 1);
  await show(newBrowser(service), token);
  await accept(newBrowser(service), token);
  assert.ok(service.log.length > 0);
  assert.ok(!JSON.stringify(service.log).includes(token));
  for (const table of ['one_time_links', 'security_events', 'operator_actions']) {
    const rows = await service.database.db.run({ name: `test-all-${table}`, text: `select * from ${table}` });
    assert.ok(!JSON.stringify(rows).includes(token), table);
  }
  const again = await person.ask('GET', '/api/console/v1/members', { accountId });
  assert.ok(!again.bytes.toString().includes(token));
});
