import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { explainWeakPassword } from '../../../src/api/sign-in/verify-attempt-and-hash-new-password.ts';
import { hashPassword, verifyPassword, PasswordsBusyError } from '../../../src/accounts/sign-in/passwords.ts';
import { invitePersonAs, createResetLinkAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import { createFrozenDatabase, type FrozenDatabase } from '../../support/database/frozen-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newPerson, shell, signIn } from '../../support/service/person.ts';

let service: HttpService;
/** Its time stands still, because a slow hash would use up the waits. */
let frozen: FrozenDatabase;
/** Another process on the same database, under a name of its own. */
let sibling: HttpService;
before(async () => {
  frozen = await createFrozenDatabase({ now: new Date().toISOString() });
  service = await startHttpService({ database: frozen });
  sibling = await startHttpService({ database: service.database, brand: { ...defaultBrand, name: 'Harbour & Film' } });
});
after(async () => {
  await sibling.close();
  await service.close();
  await frozen.close();
});

test('rule 11: an unknown e-mail, a wrong password, no password and a disabled person get the same answer, after a hash each', async () => {
  const { email, userId } = await newPerson(service);
  const other = await newPerson(service);
  const text = 'update users set password_hash = null where id = $1';
  await service.database.db.run({ name: 'test-no-password', text }, [userId]);
  const third = await newPerson(service);
  const disabled = 'update users set disabled_at = now() where id = $1';
  await service.database.db.run({ name: 'test-disable', text: disabled }, [third.userId]);
  const answers = [
    await signIn(newBrowser(service), 'unknown@example.com'),
    await signIn(newBrowser(service), other.email, 'a wrong password'),
    await signIn(newBrowser(service), email),
    await signIn(newBrowser(service), third.email),
  ];
  for (const answer of answers) assert.deepEqual([answer.status, answer.json.error], [401, 'sign_in_failed']);
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
  assert.equal(await verifyPassword(undefined, 'not a password of any user'), false, 'the stand-in never matches');
});

test('rule 11: each of them costs a hash: while none can be hashed, none is answered', async () => {
  const { email, userId } = await newPerson(service);
  const text = 'update users set password_hash = null where id = $1';
  await service.database.db.run({ name: 'test-no-password', text }, [userId]);
  const answers = await whileNoneIsHashed(() =>
    Promise.all([signIn(newBrowser(service), 'unknown-too@example.com'), signIn(newBrowser(service), email)]),
  );
  for (const { status, json } of answers) assert.deepEqual([status, json.error], [429, 'too_many_sign_ins']);
});

/** Occupies the hashing queue until `work` is done. */
async function whileNoneIsHashed<T>(work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const take = async () => {
    while (!over.signal.aborted)
      await hashPassword(goodPassword).catch(() => new Promise((resolve) => setImmediate(resolve)));
  };
  const taken = Array.from({ length: 52 }, take);
  try {
    return await work();
  } finally {
    over.abort();
    await Promise.all(taken);
  }
}

test('rule 11: after ten failures at an e-mail every process makes that network wait, and no other', async () => {
  const person = await newPerson(service);
  const { email } = person;
  const attack = (at: HttpService, password: string) => signIn(newBrowser(at, undefined, '192.0.2.1'), email, password);
  for (let tries = 0; tries < 10; tries += 1) {
    const answer = await attack(tries % 2 === 0 ? service : sibling, `wrong password ${tries}`);
    assert.equal(answer.json.error, 'sign_in_failed');
  }
  for (const at of [service, sibling]) {
    const answer = await attack(at, goodPassword);
    assert.deepEqual([answer.status, answer.json.error], [429, 'too_many_sign_ins'], 'the right password, too');
    assert.match(String(answer.headers['retry-after']), /^[12]$/);
  }
  assert.equal((await signIn(newBrowser(service), email)).status, 200, 'the owner signs in from another network');
  await ageTries(service, '2 seconds');
  assert.equal((await attack(service, 'wrong again')).json.error, 'sign_in_failed', 'slowed down, not locked out');
  assert.match(String((await attack(service, 'and again')).headers['retry-after']), /^[34]$/, 'twice as long');
  await ageTries(service, '15 minutes');
  assert.equal((await attack(service, goodPassword)).status, 200);
});

test('rule 11: failures of others, from the same network too, do not slow down a browser with a session', async () => {
  const person = await newPerson(service);
  const text = `
insert into sign_in_tries (email_hash, address)
select email_hash, '192.0.2.3' from sign_in_tries, generate_series(1, 20) where email_hash = sha256(convert_to($1, 'UTF8'))`;
  await service.database.db.run({ name: 'test-many-failures', text }, [person.email]);
  const refused = await signIn(newBrowser(service, undefined, '192.0.2.3'), person.email);
  assert.equal(refused.json.error, 'too_many_sign_ins');
  const sameNetwork = newBrowser(service, person.cookie(), '192.0.2.3');
  const body = { password: goodPassword };
  assert.equal((await sameNetwork.ask('POST', '/api/console/v1/reauthenticate', { body })).status, 200);
});

test('rule 11: a session that fails too often must wait, at every endpoint that takes a password', async () => {
  const person = await newPerson(service);
  const text = `
insert into sign_in_tries (email_hash, address)
select sha256(convert_to($1, 'UTF8')), $2 from generate_series(1, 20)`;
  const source = `session ${person.sessionId}`;
  await service.database.db.run({ name: 'test-failures-of-session', text }, [person.email, source]);
  const invited = await invitePersonAs(service.database.db, shell, { email: person.email, isOperator: true });
  for (const [path, body] of [
    ['reauthenticate', { password: goodPassword }],
    ['password', { currentPassword: goodPassword, newPassword: 'another long one' }],
    ['links/accept', { token: invited?.token, password: goodPassword }],
  ] as const) {
    const { json } = await person.ask('POST', `/api/console/v1/${path}`, { body });
    assert.equal(json.error, 'too_many_sign_ins', path);
  }
});

test('rule 11: an e-mail that many networks attack leaves each network one try a minute', async () => {
  const { email } = await newPerson(service);
  const text = `
insert into sign_in_tries (email_hash, address)
select sha256(convert_to($1, 'UTF8')), '198.51.100.' || n from generate_series(1, 100) n`;
  await service.database.db.run({ name: 'test-many-networks', text }, [email]);
  const browser = newBrowser(service);
  assert.equal((await signIn(browser, email, 'a wrong password')).json.error, 'sign_in_failed');
  assert.match(String((await signIn(browser, email)).headers['retry-after']), /^(60|59)$/);
  await ageTries(service, '1 minute');
  assert.equal((await signIn(browser, email)).status, 200);
});

function ageTries({ database: { db } }: HttpService, age: string) {
  const text = `update sign_in_tries set created_at = created_at - $1::interval`;
  return db.run({ name: 'test-age-tries', text }, [age]);
}

test('rule 11: concurrent failures are counted one by one', async () => {
  const { email } = await newPerson(service);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      signIn(newBrowser(index % 2 === 0 ? service : sibling, undefined, '192.0.2.2'), email, 'wrong one'),
    ),
  );
  const errors = answers.map(({ json }) => json.error);
  assert.equal(errors.filter((error) => error === 'sign_in_failed').length, 10);
  assert.equal(errors.filter((error) => error === 'too_many_sign_ins').length, 6);
});

test('sign-in attempts leave connections to creates, however many networks they come from', async () => {
  const pool = createDatabase({ url: service.database.url, poolSize: 4 });
  const own = await startHttpService({ database: { ...service.database, db: pool } });
  try {
    const { key } = await own.newAccount(1_000);
    const attempts = await service.database.db.transaction(async (run) => {
      await run({ name: 'test-lock-tries', text: 'lock table sign_in_tries in access exclusive mode' });
      const tries = Array.from({ length: 12 }, (_, n) =>
        signIn(newBrowser(own), `many-${n}@example.com`, 'a wrong one'),
      );
      await waitFor('tries that wait', () => (pool.usage().busy >= 2 ? true : undefined));
      assert.equal((await own.create(key, plainRequest)).status, 200);
      return tries;
    });
    for (const { json } of await Promise.all(attempts)) assert.equal(json.error, 'sign_in_failed');
  } finally {
    await own.close();
    await pool.close();
  }
});

test('a network over its rate is refused without a statement', async () => {
  const statements: string[] = [];
  const { db } = service.database;
  const counted: Database = {
    ...db,
    run: (statement, values) => {
      statements.push(statement.name);
      return db.run(statement, values);
    },
    transaction: (work) => {
      statements.push('transaction');
      return db.transaction(work);
    },
  };
  const signIns = createRateLimiter({ quota: 1, windowMs: 60_000 });
  const own = await startHttpService({ database: { ...service.database, db: counted }, signIns });
  try {
    // The session of the cookie is not read, either.
    const browser = newBrowser(own, (await newPerson(service)).cookie());
    assert.equal((await signIn(browser, 'limited@example.com')).json.error, 'sign_in_failed');
    statements.length = 0;
    assert.equal((await signIn(browser, 'limited@example.com')).json.error, 'too_many_sign_ins');
    assert.deepEqual(statements, []);
  } finally {
    await own.close();
  }
});

test('rule 11: of passwords to hash two are at work and fifty wait; more are refused', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => hashPassword(goodPassword)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(refused.length, 8);
  for (const { reason } of refused) assert.ok(reason instanceof PasswordsBusyError);
});

for (const [password, refusal, serviceName = 'Videogen'] of [
  ['eleven char', /12 to 128 characters/],
  ['x'.repeat(129), /12 to 128 characters/],
  ['🦊'.repeat(11), /12 to 128 characters/],
  ['🦊🐶🐱🐭🐹🐰🐻🐼🐨🐯🦁🐮', undefined],
  ['🦊🐶🐱🐭🐹🐰🐻🐼'.repeat(16), undefined],
  ['aaaaaaaaaaaa', /5 different characters/],
  ['abcdabcdABCD', /5 different characters/],
  ['abcdabcdABCD5', undefined],
  ['a b\u{a0}c d e f g', undefined],
  ['            ', /5 different characters/],
  ['пароль на двенадцать', undefined],
  ['1QAZ2wsx3edc', /too common/],
  ['qwerty123456', /too common/],
  ['ada@example.com', /e-mail or the name/],
  ['Ada.Example.Com1', /e-mail or the name/],
  ['Ada-3141-5926', /e-mail or the name/],
  ['3141-5926-5358', undefined],
  ['videogen-2026!', /e-mail or the name/],
  ['VideogenVideogen', /e-mail or the name/],
  ['videogen and something else', undefined],
  ['Harbour & Film 2026', undefined],
  ['Harbour & Film 2026', /e-mail or the name/, 'Harbour & Film'],
  ['harbourfilm!harbourfilm', /e-mail or the name/, 'Harbour & Film'],
  ['videogen-2026!', undefined, 'Harbour & Film'],
  ['a plain sentence', undefined, '★'],
] as const) {
  test(`rule 12: a password such as ${JSON.stringify(password.slice(0, 20))} is ${refusal === undefined ? 'accepted' : 'refused'} by ${serviceName}`, () => {
    const problem = explainWeakPassword(password, ['ada@example.com', serviceName]);
    if (refusal === undefined) assert.equal(problem, undefined);
    else assert.match(String(problem), refusal);
  });
}

test('rule 12: the name of this service is that of its settings', async () => {
  const harbour = await newPerson(sibling);
  const body = { currentPassword: goodPassword, newPassword: 'Harbour&Film-2026' };
  const refused = await harbour.ask('POST', '/api/console/v1/password', { body });
  assert.equal(refused.status, 422);
  assert.match(refused.json.msg, /must not be made of the e-mail or the name of this service/);
  const elsewhere = await newPerson(service);
  assert.equal((await elsewhere.ask('POST', '/api/console/v1/password', { body })).status, 200);
});

test('rule 12: a password counts exactly, letter by letter, and is refused where it is chosen with the field’s name', async () => {
  const person = await newPerson(service);
  const change = (newPassword: string, currentPassword: string = goodPassword) =>
    person.ask('POST', '/api/console/v1/password', { body: { currentPassword, newPassword } });
  const { status, json } = await change('qwerty123456');
  assert.deepEqual([status, (json.data['errors'] as { path: string }[])[0]?.path], [422, 'newPassword']);
  assert.equal((await change('x'.repeat(12), 'not mine, this one')).json.error, 'sign_in_failed');
  const exact = ' Ünïcode 🦊 mit Rand ';
  assert.equal((await change(exact)).status, 200);
  for (const near of [exact.trim(), exact.toLowerCase(), exact.normalize('NFD'), exact.slice(0, -1), `${exact}x`]) {
    assert.equal((await signIn(newBrowser(service), person.email, near)).json.error, 'sign_in_failed', near);
  }
  assert.equal(
    (await signIn(newBrowser(service), person.email.toUpperCase(), exact)).status,
    200,
    'e-mails in any case',
  );
});

test('where CONSOLE_PASSWORD_LOGIN is off no password opens anything', async () => {
  const { database } = service;
  const { email, ...person } = await newPerson(service);
  const own = await startHttpService({ database, console: { ...service.deps.console, passwordSignIn: false } });
  try {
    const browser = newBrowser(own, person.cookie());
    const link = await createResetLinkAs(database.db, shell, email);
    const body = { currentPassword: goodPassword, newPassword: 'another long one' };
    const answers = [
      await signIn(browser, email),
      await browser.ask('POST', '/api/console/v1/reauthenticate', { body: { password: goodPassword } }),
      await browser.ask('POST', '/api/console/v1/password', { body }),
      await browser.ask('POST', '/api/console/v1/links/accept', {
        body: { token: link?.token, password: goodPassword },
      }),
    ];
    for (const { status, json } of answers) assert.deepEqual([status, json.error], [403, 'password_sign_in_off']);
    const options = await browser.ask('GET', '/api/console/v1/options');
    assert.equal(options.json.data['passwordSignIn'], false);
  } finally {
    await own.close();
  }
});
